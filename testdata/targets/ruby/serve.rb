# frozen_string_literal: true

require "json"
require "socket"

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
      next if call[:method] == "fork" && forked?(**call[:params])

      puts JSON.generate({ jsonrpc: "2.0", id: call[:id], **answer(call[:method], call[:params]) })
    end
    exit!
  end

  private

  # Forks, and tells the new process from the old one. Input, output and error of the new one are connections to a socket.
  def forked?(socket:)
    if (new = fork)
      Process.detach(new)
      return false
    end
    Process.setpgid(0, 0)
    [[$stdin, $stdout], [$stderr]].each do |streams|
      connection = UNIXSocket.new(socket)
      streams.each { |stream| stream.reopen(connection) }
    end
  end

  def answer(method, params)
    return { result: {} } if method == "fork"
    return error(NO_SUCH_METHOD, "no method #{method}") unless @methods.include?(method)

    return { result: @adapter.public_send(method, **params) } unless method == "initialize"

    { result: { **@adapter.start(**params), forks: true } }
  rescue *@failure => e
    error(FAILED, e.message)
  rescue *@trouble => e
    error(UNKNOWN, "#{e.class}: #{e.message}")
  end

  def error(code, message) = { error: { code:, message: } }
end
