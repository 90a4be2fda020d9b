# frozen_string_literal: true

require "json"

FAILED = -32_000 # this certainly had no effect
UNKNOWN = -32_603 # it may have happened
NO_SUCH_METHOD = -32_601

# Calls of lockproof, one a line on standard input, become calls of an adapter's methods.
class Server
  # An error that is a failure certainly had no effect, trouble may have had one.
  def initialize(adapter, methods, trouble:, failure: [])
    @adapter, @methods, @trouble, @failure = adapter, methods, trouble, failure
  end

  def run
    $stdout.sync = true
    $stdin.each_line do |line| # its end means stop, releasing nothing
      call = JSON.parse(line, symbolize_names: true)
      puts JSON.generate({ jsonrpc: "2.0", id: call[:id], **answer(call[:method], call[:params]) })
    end
    exit!
  end

  private

  def answer(method, params)
    return error(NO_SUCH_METHOD, "no method #{method}") unless @methods.include?(method)

    { result: @adapter.public_send(method == "initialize" ? :start : method, **params) }
  rescue *@failure => e
    error(FAILED, e.message)
  rescue *@trouble => e
    error(UNKNOWN, "#{e.class}: #{e.message}")
  end

  def error(code, message) = { error: { code:, message: } }
end
