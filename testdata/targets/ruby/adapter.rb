# frozen_string_literal: true

# The adapter of the mutexes.
#
# Usage: adapter.rb MUTEX, a class of mutexes.rb or wrong_mutexes.rb.

require_relative "mutexes"
require_relative "serve"
require_relative "wrong_mutexes"

# What lockproof calls.
class Adapter
  METHODS = %w[initialize acquire verify release].freeze

  def initialize(design)
    @design = Object.const_get(design)
  end

  def start(url:, **)
    @mutex = @design.new(url)
    { name: "ruby example, #{@design}", locks: ["mutex"], operations: METHODS.drop(1), timeouts: waits? }
  end

  def acquire(name:, timeout: nil)
    held = timeout ? @mutex.acquire_within(name, timeout / 1000.0) : @mutex.acquire(name)
    held ? { held: true, slot: 1 } : { held: false }
  end

  def verify(name:, **) = { held: @mutex.verify(name) }

  def release(name:, **)
    @mutex.release(name)
    {}
  end

  private

  def waits? = @mutex.respond_to?(:acquire_within)
end

Server.new(Adapter.new(ARGV.fetch(0)), Adapter::METHODS, trouble: Client::TROUBLE).run
