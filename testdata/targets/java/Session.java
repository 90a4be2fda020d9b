import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.MessageProperties;
import com.rabbitmq.client.ShutdownSignalException;
import java.io.IOException;
import java.util.Map;
import java.util.concurrent.TimeoutException;

/** One connection with one channel in confirm mode, and what a semaphore asks of a broker. */
abstract class Session {
    private static final int REPAIRS = 2; // how often a command is sent again because its channel broke
    private static final Map<String, Object> EMPTY = Map.of("x-max-length", 0); // messages that ask do not pile up

    private final ConnectionFactory factory = new ConnectionFactory();
    private Connection connection;
    private Channel channel;
    private volatile boolean returned; // the last message

    Session(String url) {
        try {
            factory.setUri(url);
        } catch (Exception e) {
            throw new IllegalArgumentException(url, e);
        }
        factory.setAutomaticRecoveryEnabled(false); // a connection that comes back by itself has lost what the old one held
        factory.setTopologyRecoveryEnabled(false);
        factory.setRequestedHeartbeat(0);
    }

    /** What was held is lost with the connection. */
    protected abstract void lost();

    /** Connects unless connected. */
    protected final void connect() throws IOException {
        if (connected()) {
            return;
        }
        giveUp();
        try {
            connection = factory.newConnection();
        } catch (TimeoutException e) {
            throw new IOException(e);
        }
        openChannel();
    }

    protected final boolean connected() {
        return connection != null && connection.isOpen();
    }

    private void openChannel() throws IOException {
        channel = connection.createChannel();
        channel.addReturnListener(message -> returned = true);
        channel.confirmSelect();
    }

    /** Ends the connection, which frees what it held. */
    private void giveUp() {
        lost();
        if (connection != null) {
            connection.abort();
        }
        connection = null;
    }

    /** A command and its answer. */
    interface Command<T> {
        T send(Channel channel) throws IOException, InterruptedException;
    }

    /**
     * Sends a command. A channel that the broker has closed is opened again, and the command repeated unless it was the
     * reason; with the connection, all is lost.
     */
    protected final <T> T command(Command<T> command) throws IOException {
        if (connection == null) {
            throw new IOException("the connection to the broker is lost");
        }
        for (int repairs = 0; ; repairs++) {
            try {
                if (!channel.isOpen()) {
                    openChannel();
                }
                return command.send(channel);
            } catch (IOException | ShutdownSignalException e) {
                if (!endedChannel(e)) {
                    giveUp();
                    throw e;
                }
                if (isLocked(e) || repairs == REPAIRS) {
                    throw e;
                }
            } catch (InterruptedException e) {
                throw new IOException(e);
            }
        }
    }

    /** Asks by a message that must come back if there is no such queue. This breaks no channel. */
    protected boolean exists(String queue) throws IOException {
        return command(channel -> {
            publish(channel, queue);
            return !returned; // it comes before the confirm
        });
    }

    protected final void publish(Channel channel, String queue) throws IOException, InterruptedException {
        returned = false;
        boolean mandatory = true;
        channel.basicPublish("", queue, mandatory, MessageProperties.MINIMAL_BASIC, new byte[0]);
        channel.waitForConfirms();
    }

    /** Declares a queue exclusively: false if it is another connection's. */
    protected boolean claim(String queue) throws IOException {
        return unlessLocked(channel -> channel.queueDeclare(queue, false, true, false, EMPTY));
    }

    /** Deletes a queue, unless it is another connection's: then it is not ours to delete any more. */
    protected final void delete(String queue) throws IOException {
        unlessLocked(channel -> channel.queueDelete(queue));
    }

    protected final void declare(String queue) throws IOException {
        command(channel -> channel.queueDeclare(queue, true, false, false, EMPTY));
    }

    private boolean unlessLocked(Command<?> command) throws IOException {
        try {
            command(command);
            return true;
        } catch (IOException e) {
            if (!isLocked(e)) {
                throw e;
            }
            return false;
        }
    }

    /** The client throws what ended a channel or a connection as an IOException's cause, or as it is. */
    private static ShutdownSignalException signal(Exception e) {
        return (e instanceof ShutdownSignalException ? e : e.getCause()) instanceof ShutdownSignalException s ? s : null;
    }

    private static boolean endedChannel(Exception e) {
        return signal(e) != null && !signal(e).isHardError();
    }

    private static boolean isLocked(Exception e) {
        return signal(e) != null && signal(e).getReason() instanceof AMQP.Channel.Close close
                && close.getReplyCode() == Mutex.RESOURCE_LOCKED;
    }
}
