# frozen_string_literal: true

# The adapter: calls of lockproof, one a line on standard input, become calls of a mutex.
#
# Usage: adapter.rb MUTEX, a class of mutexes.rb or wrong_mutexes.rb.

require "json"
require_relative "mutexes"
require_relative "wrong_mutexes"

UNKNOWN = -32_603 # it may have happened
NO_SUCH_METHOD = -32_601

# What lockproof calls.
class Adapter
  METHODS = %w[initialize acquire verify release].freeze

  def initialize(design)
    @design = Object.const_get(design)
  end

  def call(method, params)
    return { error: { code: NO_SUCH_METHOD, message: "no method #{method}" } } unless METHODS.include?(method)

    { result: method == "initialize" ? start(**params) : send(method, **params) }
  rescue *Client::TROUBLE => e
    { error: { code: UNKNOWN, message: "#{e.class}: #{e.message}" } }
  end

  private

  def start(url:, **)
    @mutex = @design.new(url)
    { name: "ruby example, #{@design}", locks: ["mutex"], operations: METHODS.drop(1), timeouts: waits? }
  end

  def waits? = @mutex.respond_to?(:acquire_within)

  def acquire(name:, timeout: nil)
    held = timeout ? @mutex.acquire_within(name, timeout / 1000.0) : @mutex.acquire(name)
    held ? { held: true, slot: 1 } : { held: false }
  end

  def verify(name:, **) = { held: @mutex.verify(name) }

  def release(name:, **)
    @mutex.release(name)
    {}
  end
end

if $PROGRAM_NAME == __FILE__
  adapter = Adapter.new(ARGV.fetch(0))
  $stdout.sync = true
  $stdin.each_line do |line| # its end means stop, releasing nothing
    call = JSON.parse(line, symbolize_names: true)
    puts JSON.generate({ jsonrpc: "2.0", id: call[:id], **adapter.call(call[:method], call[:params]) })
  end
  exit!
end
