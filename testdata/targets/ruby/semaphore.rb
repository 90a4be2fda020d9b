# frozen_string_literal: true

# A persistent semaphore on RabbitMQ, after the amqp-locks guidelines, with bunny.
#
# Slot L of semaphore N is the durable queue N-L-A; whoever holds it has the exclusive queue N-L-B. Both have
# x-max-length 0, so that the messages that ask whether they exist do not pile up.

require_relative "connection"

# One connection with one channel in confirm mode, and what a semaphore asks of a broker.
class Session < Connection
  EMPTY = { "x-max-length" => 0 }.freeze
  REPAIRS = 2 # how often a command is sent again because its channel broke

  private

  def open_channel
    super
    watched { @channel.confirm_select }
  end

  # Sends a command. A channel that the broker has closed is opened again, and the command repeated unless it was the
  # reason; with the connection, all is lost.
  def command
    raise Bunny::NetworkFailure.new("the connection to the broker is lost", nil) unless @connection

    repairs = 0
    begin
      open_channel unless @channel.open?
      watched { yield @channel }
    rescue Bunny::ResourceLocked
      raise
    rescue Bunny::ChannelLevelException, Bunny::ChannelAlreadyClosed
      raise if (repairs += 1) > REPAIRS

      retry
    rescue *TROUBLE
      abandon
      raise
    end
  end

  # Asks by a message that must come back if there is no such queue. This breaks no channel.
  def exists?(queue)
    command do |channel|
      returned = false
      exchange = channel.default_exchange
      exchange.on_return { returned = true }
      exchange.publish("", routing_key: queue, mandatory: true, persistent: false)
      processed(channel)
      !returned
    end
  end

  # Waits until the broker has done all that it was told. wait_for_confirms would go on waiting when the broker closes the
  # channel instead; what has a reply of its own does not, and a message comes back before that.
  def processed(channel) = channel.confirm_select

  # Declares a queue exclusively: false if it is another connection's.
  def claim(queue)
    unless_locked { |channel| channel.queue_declare(queue, exclusive: true, arguments: EMPTY) }
  end

  # Deletes a queue, unless it is another connection's: then it is not ours to delete any more.
  def delete(queue)
    unless_locked { |channel| channel.queue_delete(queue) }
  end

  def declare(queue)
    command { |channel| channel.queue_declare(queue, durable: true, arguments: EMPTY) }
  end

  def unless_locked(&)
    command(&)
    true
  rescue Bunny::ResourceLocked
    false
  end
end

# A semaphore as one client sees it: slots are numbered from 1.
class Semaphore < Session
  MAX_SLOTS = 30 # where looking for slots ends
  CLAIMS = 4 # attempts at slots that somebody else claimed first
  ADMIN_CLAIMS = 4 # attempts at the administration mutex
  POLLS = 4 # looks at a slot that is waited for

  # Nothing was done, because others were in the way until the last attempt.
  class Busy < StandardError; end

  def initialize(url)
    super
    @held = {} # slot by semaphore
  end

  # What a lock's user calls.

  # The slot that is now held, or nil if all are taken.
  def acquire(name)
    connect
    CLAIMS.times do
      slot = free(name) or return
      return confirmed(name, slot) if claim(b(name, slot))
    end
    raise Busy, "every slot that looked free was claimed by others first"
  end

  # An answer from the broker on the connection that claimed it means that B is still ours; what is left to ask is whether
  # the slot is still there.
  def verify(name, slot)
    return false unless @held[name] == slot
    return true if exists?(a(name, slot))

    release(name, slot)
    false
  rescue *TROUBLE
    raise if @connection

    false
  end

  def release(name, slot)
    return unless @held[name] == slot

    @held.delete(name)
    give_back(b(name, slot))
  end

  # What an administrator calls.

  def create(name, slots) = administer(name) { grow(name, 0, slots) }

  def add(name, slots) = administer(name) { grow(name, count(name), slots) }

  def remove(name, slots) = administer(name) { shrink(name, count(name), slots) }

  def destroy(name) = remove(name, MAX_SLOTS)

  def count(name)
    connect
    slots(name).count
  end

  # Waits until nobody holds a slot, which should have been removed.
  def wait(name, slot)
    connect
    raise Busy, "slot #{slot} is still held" if POLLS.times.all? { exists?(b(name, slot)) }
  end

  private

  def a(name, slot) = "#{name}-#{slot}-A"

  def b(name, slot) = "#{name}-#{slot}-B"

  def mutex(name) = "#{name}-admin"

  # What was held went with the connection.
  def lost = @held.clear

  # The slots that there are, asked for one by one.
  def slots(name) = (1..MAX_SLOTS).lazy.take_while { |slot| exists?(a(name, slot)) }

  # The first slot that nobody holds.
  def free(name) = slots(name).find { |slot| !exists?(b(name, slot)) }

  # A slot may have been removed while it was claimed. It is not granted then.
  def confirmed(name, slot)
    return @held[name] = slot if exists?(a(name, slot))

    delete(b(name, slot))
    nil
  end

  def give_back(queue) = delete(queue)

  def grow(name, top, slots)
    (top + 1).upto(top + slots) { |slot| declare(a(name, slot)) }
  end

  # Deletes the last slots, the highest first, so that there is never a hole.
  def shrink(name, top, slots)
    top.downto([top - slots, 0].max + 1) { |slot| delete(a(name, slot)) }
  end

  # Changes slots while nobody else does.
  def administer(name)
    connect
    raise Busy, "somebody else administers the semaphore" unless ADMIN_CLAIMS.times.any? { claim(mutex(name)) }

    begin
      yield
    ensure
      delete(mutex(name)) if @connection # otherwise it went with it
    end
  end
end
