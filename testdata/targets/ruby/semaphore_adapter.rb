# frozen_string_literal: true

# The adapter of the semaphore.
#
# Usage: semaphore_adapter.rb [BUG], with a bug of wrong_semaphores.rb.

require_relative "semaphore"
require_relative "serve"
require_relative "wrong_semaphores"

# What lockproof calls.
class SemaphoreAdapter
  METHODS = %w[initialize acquire verify release create add remove destroy count wait].freeze

  def initialize(bug)
    @bug = bug
  end

  def start(url:, **)
    @semaphore = (@bug ? Wrong::BUGS.fetch(@bug) : Semaphore).new(url)
    { name: ["ruby example", *@bug].join(", "), locks: ["semaphore"], operations: METHODS.drop(1) }
  end

  def acquire(name:)
    slot = @semaphore.acquire(name)
    slot ? { held: true, slot: } : { held: false }
  end

  def verify(name:, slot:) = { held: @semaphore.verify(name, slot) }

  def count(name:) = { slots: @semaphore.count(name) }

  def destroy(name:) = nothing { @semaphore.destroy(name) }

  %i[release wait].each do |method|
    define_method(method) { |name:, slot:| nothing { @semaphore.public_send(method, name, slot) } }
  end

  %i[create add remove].each do |method|
    define_method(method) { |name:, slots:| nothing { @semaphore.public_send(method, name, slots) } }
  end

  private

  # There is nothing to tell.
  def nothing
    yield
    {}
  end
end

Server.new(SemaphoreAdapter.new(ARGV.first), SemaphoreAdapter::METHODS, failure: [Semaphore::Busy], trouble: Connection::TROUBLE).run
