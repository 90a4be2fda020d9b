import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.Method;
import com.rabbitmq.client.ShutdownSignalException;
import com.rabbitmq.client.AMQP;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A mutex on RabbitMQ, with the calls of java.util.concurrent.locks.Lock. It is one client's, which holds one lock at most.
 * Whatever goes wrong that is no answer, the connection is given up, and with it what it holds.
 */
abstract class Mutex {
    static final int ACCESS_REFUSED = 403;
    static final int NOT_FOUND = 404;
    static final int RESOURCE_LOCKED = 405;
    private static final long PAUSE_MILLIS = 20; // between two attempts

    private final ConnectionFactory factory;
    private Connection connection;
    protected Channel channel;
    protected String held;

    Mutex(String url) {
        factory = new ConnectionFactory();
        try {
            factory.setUri(url);
        } catch (Exception e) {
            throw new IllegalArgumentException(url, e);
        }
        configure(factory);
    }

    /** Without recovery: a connection that comes back by itself has lost what the old one held. */
    protected void configure(ConnectionFactory factory) {
        factory.setAutomaticRecoveryEnabled(false);
        factory.setTopologyRecoveryEnabled(false);
        factory.setRequestedHeartbeat(0);
    }

    /** Claims the lock: false if it is another's. */
    protected abstract boolean claim(String name) throws IOException;

    /** Asks the broker for something to which only an open channel, with all that it has, gives an answer. */
    protected abstract void look(String name) throws IOException;

    protected abstract void giveBack(String name) throws IOException;

    final boolean tryLock(String name) throws IOException {
        try {
            connect();
            if (claim(name)) {
                held = name;
            }
            return name.equals(held);
        } catch (IOException | ShutdownSignalException e) {
            abandon();
            throw e;
        }
    }

    /** Waits for the lock until the time is up. */
    boolean tryLock(String name, long time, TimeUnit unit) throws IOException, InterruptedException {
        long end = System.nanoTime() + unit.toNanos(time);
        while (!tryLock(name)) {
            long left = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime());
            if (left <= 0) {
                return false;
            }
            Thread.sleep(Math.min(left, PAUSE_MILLIS));
        }
        return true;
    }

    boolean isHeld(String name) {
        if (!name.equals(held)) {
            return false;
        }
        try {
            look(name);
        } catch (IOException | ShutdownSignalException e) {
            abandon();
        }
        return name.equals(held);
    }

    final void unlock(String name) {
        if (!name.equals(held)) {
            return;
        }
        held = null;
        try {
            giveBack(name);
        } catch (IOException | ShutdownSignalException e) {
            abandon();
        }
    }

    /** Connects unless connected. What was held went with the old connection. */
    private void connect() throws IOException {
        if (connection == null || !connection.isOpen()) {
            held = null;
            try {
                connection = factory.newConnection();
            } catch (TimeoutException e) {
                throw new IOException(e);
            }
            channel = connection.createChannel();
        } else if (!channel.isOpen()) {
            channel = connection.createChannel();
        }
    }

    protected final void reopen() throws IOException {
        channel = connection.createChannel();
    }

    /** Gives the connection up: the broker frees what it holds. */
    protected void abandon() {
        held = null;
        if (connection != null) {
            connection.abort();
        }
        connection = null;
    }

    /** A command to which the broker may say no by closing the channel. */
    interface Command {
        void send() throws IOException;
    }

    /** Sends a command: false if the broker closes the channel with this code. */
    protected final boolean accepted(int code, Command command) throws IOException {
        try {
            command.send();
            return true;
        } catch (IOException e) {
            if (!(e.getCause() instanceof ShutdownSignalException) || code(e) != code) {
                throw e;
            }
            reopen();
            return false;
        }
    }

    private static int code(IOException e) {
        Method reason = ((ShutdownSignalException) e.getCause()).getReason();
        return reason instanceof AMQP.Channel.Close ? ((AMQP.Channel.Close) reason).getReplyCode() : 0;
    }
}
