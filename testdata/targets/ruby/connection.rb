# frozen_string_literal: true

require "bunny"
require "logger"
require "timeout"

# A connection with a channel.
class Connection
  TROUBLE = [Bunny::Exception, Timeout::Error, IOError, SystemCallError].freeze

  # Without recovery: a connection that comes back by itself has lost what the old one held.
  SETTINGS = { automatically_recover: false, recover_from_connection_close: false, heartbeat: 0 }.freeze

  def initialize(url)
    @url = url
    @connection = @channel = @loss = nil
  end

  private

  # Connects unless connected.
  def connect
    abandon if @loss&.seen? || !@connection&.open?
    unless @connection
      @loss = Loss.new
      @connection = Bunny.new(@url, logger: Logger.new(File::NULL), session_error_handler: @loss, **self.class::SETTINGS)
      watched { @connection.start }
      @channel = nil
    end
    open_channel unless @channel&.open?
  end

  def open_channel
    @channel = watched { @connection.create_channel }
  end

  # Runs what asks the broker for something: a loss of the connection is raised in it.
  def watched(&) = @loss.watched(&)

  # Cuts the connection: what is at its other end may not answer any more. Closing alone would wait for bunny's thread that
  # reads, and the broker would learn of it later than who calls release.
  def abandon
    connection, @connection = @connection, nil
    lost
    connection&.transport&.socket&.shutdown
  rescue IOError, SystemCallError
    # it was closed
  ensure
    connection&.close_transport
  end
end

# bunny raises the loss of a connection in the thread that made it, whatever that is doing, and says it nowhere else. Here
# it is raised while a command is under way, and by the next command otherwise.
class Loss
  def initialize
    @mutex = Thread::Mutex.new
    @thread = @error = nil
  end

  def seen? = !@error.nil?

  def watched
    @mutex.synchronize { @thread = Thread.current }
    Kernel.raise(*@error) if @error
    yield
  ensure
    @mutex.synchronize { @thread = nil }
  end

  # Called by bunny's thread that reads.
  def raise(*error)
    @mutex.synchronize do
      @error = error
      @thread&.raise(*error)
    end
  end
end
