# frozen_string_literal: true

# The adapter between lockproof and your lock: calls come one a line on standard input, answers go to standard output.
#
# Replace the classes Lock and Loss by your library. As it is, it is a mutex: one exclusive queue. It takes bunny
# (gem install bunny).

require "bunny"
require "json"
require "logger"
require "socket"
require "timeout"

# One client: a connection, and what is held by it.
class Lock
  TROUBLE = [Bunny::Exception, Timeout::Error, IOError, SystemCallError].freeze

  # A connection that comes back by itself would have lost what the old one held.
  SETTINGS = { automatically_recover: false, recover_from_connection_close: false, heartbeat: 0 }.freeze

  def initialize(url)
    @url = url
  end

  # True if the lock is held now, false if somebody else has it.
  def acquire(name)
    open
    @loss.watched { @channel.queue_declare(name, exclusive: true) }
    @held = true
  rescue Bunny::ResourceLocked
    open # the broker says no by closing the channel
    false
  rescue *TROUBLE
    abandon
    raise
  end

  # True if the lock is still held.
  def verify(name)
    @loss.watched { @channel.queue_declare(name, passive: true) } if @held
    !!@held
  rescue *TROUBLE
    abandon
    false
  end

  # Gives the lock back.
  def release(name)
    @loss.watched { @channel.queue_delete(name) } if @held
    @held = false
  rescue *TROUBLE
    abandon
  end

  private

  # Sees that there is an open channel. A new connection holds nothing of what an old one held.
  def open
    abandon if @loss&.seen?
    unless @connection
      @loss = Loss.new
      @connection = Bunny.new(@url, logger: Logger.new(File::NULL), session_error_handler: @loss, **SETTINGS)
      @loss.watched { @connection.start }
    end
    @channel = @loss.watched { @connection.create_channel } unless @channel&.open?
  end

  # Cuts the connection after what was not answered: the broker frees what it may hold. Bunny's close would wait.
  def abandon
    connection, @connection, @channel, @held = @connection, nil, nil, false
    connection&.transport&.socket&.shutdown
  rescue IOError, SystemCallError
    # it was closed
  ensure
    connection&.close_transport
  end
end

# Bunny raises the loss of a connection in what it is given for that, or in the thread that made it, whatever that is doing.
# Here it is raised in a command that is under way, or in the next.
class Loss
  def initialize
    @mutex = Thread::Mutex.new
  end

  def seen? = !@error.nil?

  def watched
    @mutex.synchronize { @thread = Thread.current }
    Kernel.raise(*@error) if @error
    yield
  ensure
    @mutex.synchronize { @thread = nil }
  end

  # Called by Bunny, in its thread that reads.
  def raise(*error)
    @mutex.synchronize do
      @error = error
      @thread&.raise(*error)
    end
  end
end

# What lockproof calls. Operations that initialize does not list are never called.
class Adapter
  METHODS = %w[initialize acquire verify release].freeze

  # A result; or an error: -32000 is that nothing has happened, any other that it may have.
  def answer(method, params)
    return { result: {} } if method == "fork"
    return { error: { code: -32_601, message: "no method #{method}" } } unless METHODS.include?(method)

    { result: method == "initialize" ? start(**params) : send(method, **params) }
  rescue *Lock::TROUBLE => e
    { error: { code: -32_603, message: "#{e.class}: #{e.message}" } }
  end

  private

  def start(url:, **)
    @lock = Lock.new(url)
    { name: "my lock", locks: ["mutex"], operations: METHODS.drop(1), forks: true }
  end

  def acquire(name:) = @lock.acquire(name) ? { held: true, slot: 1 } : { held: false }

  def verify(name:, **) = { held: @lock.verify(name) }

  def release(name:, **)
    @lock.release(name)
    {}
  end
end

# Forks, which is faster than starting, and tells the new process from the old one. The new one is another client: its input,
# output and error are connections to a socket. Leave it out, with "forks", if your library has threads by now.
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

adapter = Adapter.new
$stdout.sync = true
$stdin.each_line do |line| # its end means stop, releasing nothing
  call = JSON.parse(line, symbolize_names: true)
  next if call[:method] == "fork" && forked?(**call[:params])

  puts JSON.generate({ jsonrpc: "2.0", id: call[:id], **adapter.answer(call[:method], call[:params]) })
end
exit!
