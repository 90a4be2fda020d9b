# frozen_string_literal: true

# The same semaphore with one bug each, of the kind that people really make.

require_relative "semaphore"

module Wrong
  # Nobody listens to returns. The broker confirms what it returns, too.
  class ReturnIgnored < Semaphore
    private

    def exists?(_queue)
      super
      true
    end
  end

  # RESOURCE_LOCKED is taken for "it is there already", as it would be for a queue of one's own.
  class LockedIsSuccess < Semaphore
    private

    def claim(_queue)
      super
      true
    end
  end

  # The channel is closed to release. An exclusive queue is the connection's, and stays.
  class ReleaseClosesChannel < Semaphore
    private

    def give_back(_queue) = command { |channel| channel.close }
  end

  # Channel#queue remembers what it has declared: who claims a slot again asks nobody.
  class ClaimsRemembered < Semaphore
    private

    def claim(queue) = unless_locked { |channel| channel.queue(queue, exclusive: true, arguments: EMPTY) }
  end

  # The lowest slots are deleted, and what is left does not begin with slot 1.
  class LowestRemoved < Semaphore
    private

    def shrink(name, top, slots)
      1.upto([top, slots].min) { |slot| delete(a(name, slot)) }
    end
  end

  # verify tells what it remembers, and asks nobody.
  class HeldFromMemory < Semaphore
    def verify(name, slot) = @held[name] == slot
  end

  # By the name of the bug.
  BUGS = constants.to_h { |name| [name.to_s.gsub(/(?<=.)[A-Z]/) { "-#{_1}" }.downcase, const_get(name)] }.freeze
end
