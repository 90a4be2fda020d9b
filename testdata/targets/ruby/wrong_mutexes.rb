# frozen_string_literal: true

# The same mutexes with one bug each, of the kind that people really make.

require_relative "mutexes"

# A queue that is locked is taken for "it is there already", as it would be for a queue of one's own.
class LockedIsSuccess < ExclusiveQueue
  private

  def claim(name)
    super
    @channel = @connection.create_channel unless @channel.open?
    true
  end
end

# The channel is closed to release. An exclusive queue is the connection's, and stays.
class ReleaseClosesChannel < ExclusiveQueue
  private

  def give_back(_name)
    @channel.close
  end
end

# Channel#queue remembers what it has declared: who acquires the lock again asks nobody.
class Remembered < ExclusiveQueue
  private

  def claim(name)
    @channel.queue(queue(name), exclusive: true)
    true
  rescue Bunny::ResourceLocked
    false
  end
end

# The consumer is the only one of its channel, and not exclusive: RabbitMQ serves all of them in turn.
class NotExclusive < ExclusiveConsumer
  private

  def consume(queue)
    @channel.queue(queue, passive: true).subscribe
  end
end

# Nobody cancels the consumer when the lock is released.
class NotCancelled < ExclusiveConsumer
  private

  def give_back(_name); end
end

# The message is fetched as Queue#pop does unless told otherwise: it is acknowledged already, and is gone with a crash.
class Popped < Token
  private

  def claim(name)
    return false unless made?(name) || make(name)

    delivery, = @channel.queue(queue(name), passive: true).pop
    !delivery.nil?
  end

  def give_back(name)
    @channel.basic_publish("token", "", queue(name), persistent: true)
    look(name)
  end
end

# The message is acknowledged to release, as one acknowledges what is done: the token is gone for good.
class Acknowledged < Token
  private

  def give_back(name)
    @channel.ack(@tag)
    look(name)
  end
end

# Put back without saying so: nack drops the message unless it is told to requeue it.
class NotRequeued < Token
  private

  def give_back(name)
    @channel.nack(@tag)
    look(name)
  end
end

# Two who find no token at the same time both make one.
class Unguarded < Token
  private

  def make(name)
    @channel.queue_declare(queue(name), durable: true)
    @channel.basic_publish("token", "", queue(name), persistent: true)
    @channel.queue_declare("#{name}.made", durable: true)
    true
  end
end

# verify tells what it remembers, and asks nobody.
class FromMemory < Token
  def verify(name)
    @held == name
  end
end

# Who has waited in vain does not look again when the subscription has been cancelled: a token that came meanwhile is kept.
class LateKept < SubscribedToken
  private

  def last(_tokens)
    nil
  end
end
