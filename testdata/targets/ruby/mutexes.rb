# frozen_string_literal: true

# Mutexes on RabbitMQ of several designs, with bunny. Each is one client's: it holds one lock at most.
#
# Whatever goes wrong that is no answer, the connection is given up, and with it what it holds.

require_relative "connection"

# A connection with a channel, and the lock that is held by it.
class Client < Connection
  # What a lock's user calls.

  def acquire(name)
    connect
    @held = name if watched { claim(name) }
    @held == name
  rescue *TROUBLE
    abandon
    raise
  end

  def verify(name)
    return false unless @held == name

    begin
      watched { look(name) }
    rescue *TROUBLE
      abandon
    end
    @held == name
  end

  def release(name)
    return unless @held == name

    @held = nil
    begin
      watched { give_back(name) }
    rescue *TROUBLE
      abandon
    end
  end

  private

  # What was held went with the connection.
  def lost
    @held = nil
  end

  # Asks something to which only an open channel gives an answer: then it has what it had.
  def look(name)
    @channel.queue_declare(queue(name), passive: true)
  end

  # If the connection is lost while bunny subscribes, it looks into an answer that has not come, and raises that.
  def subscribing
    yield
  rescue NoMethodError => e
    raise e.cause || e
  end
end

# Whoever has the exclusive queue holds the lock.
class ExclusiveQueue < Client
  private

  def queue(name) = "#{name}.lock"

  def claim(name)
    @channel.queue_declare(queue(name), exclusive: true)
    true
  rescue Bunny::ResourceLocked
    false
  end

  def give_back(name)
    @channel.queue_delete(queue(name))
  end
end

# Whoever consumes the lock's queue exclusively holds the lock.
class ExclusiveConsumer < Client
  private

  def queue(name) = "#{name}.lock"

  def claim(name)
    @channel.queue_declare(queue(name), durable: true)
    @consumer = subscribing { consume(queue(name)) }
    true
  rescue Bunny::AccessRefused
    false
  end

  def consume(queue)
    @channel.basic_consume(queue, "", true, true) # no acknowledgements, exclusive
  end

  def give_back(_name)
    @channel.basic_cancel(@consumer.consumer_tag)
  end
end

# Whoever has the only message of a queue, unacknowledged, holds the lock. Queue and message last; the first client makes
# them while it has an exclusive queue, and a third queue, made last, says that they are complete.
class Token < Client
  private

  def queue(name) = "#{name}.token"

  def claim(name)
    return false unless made?(name) || make(name)

    delivery, = @channel.basic_get(queue(name), manual_ack: true)
    @tag = delivery&.delivery_tag
    !@tag.nil?
  end

  def made?(name)
    @channel.queue_declare("#{name}.made", passive: true)
    true
  rescue Bunny::NotFound
    @channel = @connection.create_channel
    false
  end

  def make(name)
    guard = "#{name}.making"
    @channel.queue_declare(guard, exclusive: true)
    fill(name) unless made?(name) # nobody has made it meanwhile
    @channel.queue_delete(guard)
    true
  rescue Bunny::ResourceLocked
    false
  end

  def fill(name)
    @channel.queue_declare(queue(name), durable: true)
    @channel.queue_purge(queue(name))
    confirmed = @connection.create_channel
    confirmed.confirm_select
    confirmed.basic_publish("token", "", queue(name), persistent: true)
    confirmed.wait_for_confirms
    confirmed.close
    @channel.queue_declare("#{name}.made", durable: true)
  end

  def give_back(name)
    @channel.nack(@tag, false, true) # one message, put back
    look(name) # an answer says that it has been
  end
end

# The token is not fetched but delivered: whoever subscribes waits for a while.
class SubscribedToken < Token
  PATIENCE = 0.02 # seconds, unless it is told how long

  def acquire_within(name, seconds)
    @patience = seconds
    acquire(name)
  ensure
    @patience = nil
  end

  private

  def claim(name)
    return false unless made?(name) || make(name)

    tokens = Thread::Queue.new
    @channel.prefetch(1)
    consumer = Bunny::Consumer.new(@channel, @channel.queue(queue(name), passive: true), @channel.generate_consumer_tag, false)
    consumer.on_delivery { |delivery, _, _| tokens << delivery.delivery_tag }
    subscribing { @channel.basic_consume_with(consumer) }
    @tag = wait(tokens)
    @channel.basic_cancel(consumer.consumer_tag)
    @tag ||= last(tokens)
    !@tag.nil?
  end

  def wait(tokens)
    Timeout.timeout(@patience || PATIENCE) { tokens.pop }
  rescue Timeout::Error
    nil
  end

  # A token that came while the subscription was being cancelled.
  def last(tokens)
    tokens.pop(true)
  rescue ThreadError
    nil
  end
end
