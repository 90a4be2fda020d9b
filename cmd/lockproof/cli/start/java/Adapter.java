import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.AlreadyClosedException;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.ShutdownSignalException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The adapter between lockproof and your lock: calls come one a line on standard input, answers go to standard output.
 *
 * <p>Replace the class Lock by your library. As it is, it is a mutex: one exclusive queue. It takes RabbitMQ's client
 * (Debian's librabbitmq-client-java, Maven's com.rabbitmq:amqp-client).
 *
 * <p>With Maven, it goes to src/test/java, {@code mvn test-compile dependency:build-classpath
 * -Dmdep.outputFile=target/classpath} compiles it, and in .lockproof.yaml exec is {@code java -cp
 * target/test-classes:target/classes:$(cat target/classpath) Adapter}.
 */
final class Adapter {
    private Lock lock;

    /** One client: a connection, and what is held by it. */
    static final class Lock {
        private static final int RESOURCE_LOCKED = 405;

        private final ConnectionFactory factory = new ConnectionFactory();
        private Connection connection;
        private Channel channel;
        private boolean held;

        Lock(String url) throws Exception {
            factory.setUri(url);
            factory.setAutomaticRecoveryEnabled(false); // it would declare the queue again, and hold what was lost
        }

        /** Sees that there is an open channel. A new connection holds nothing of what an old one held. */
        private void open() throws Exception {
            if (connection == null || !connection.isOpen()) {
                held = false;
                connection = factory.newConnection();
                channel = connection.createChannel();
            } else if (!channel.isOpen()) {
                channel = connection.createChannel();
            }
        }

        /** True if the lock is held now, false if somebody else has it. */
        boolean acquire(String name) throws Exception {
            try {
                open();
                channel.queueDeclare(name, false, true, false, null);
                held = true;
            } catch (IOException | AlreadyClosedException e) {
                if (!isLocked(e)) {
                    abandon();
                    throw e;
                }
                open();
            }
            return held;
        }

        /** The broker says no by closing the channel, which is the cause of an IOException. */
        private static boolean isLocked(Exception e) {
            if (!(e.getCause() instanceof ShutdownSignalException)) {
                return false;
            }
            Object reason = ((ShutdownSignalException) e.getCause()).getReason();
            return reason instanceof AMQP.Channel.Close && ((AMQP.Channel.Close) reason).getReplyCode() == RESOURCE_LOCKED;
        }

        /** Closes the connection after what was not answered: the broker frees what it may hold. */
        private void abandon() {
            held = false;
            if (connection != null) {
                connection.abort();
            }
            connection = null;
        }

        /** True if the lock is still held. */
        boolean verify(String name) {
            try {
                if (held) {
                    channel.queueDeclarePassive(name);
                }
            } catch (IOException | AlreadyClosedException e) {
                abandon();
            }
            return held;
        }

        /** Gives the lock back. */
        void release(String name) {
            try {
                if (held) {
                    channel.queueDelete(name);
                }
            } catch (IOException | AlreadyClosedException e) {
                abandon();
            }
            held = false;
        }
    }

    /** What lockproof calls. Operations that initialize does not list are never called. */
    private String result(String method, String call) throws Exception {
        switch (method) {
            case "initialize":
                lock = new Lock(field(call, "url"));
                return "{\"name\":\"my lock\",\"locks\":[\"mutex\"],\"operations\":[\"acquire\",\"verify\",\"release\"]}";
            case "acquire":
                return lock.acquire(field(call, "name")) ? "{\"held\":true,\"slot\":1}" : "{\"held\":false}";
            case "verify":
                return "{\"held\":" + lock.verify(field(call, "name")) + "}";
            case "release":
                lock.release(field(call, "name"));
                return "{}";
            default:
                throw new UnsupportedOperationException("no method " + method);
        }
    }

    /** A result; or an error: -32000 is that nothing has happened, any other that it may have. */
    private String answer(String call) {
        try {
            return "\"result\":" + result(field(call, "method"), call);
        } catch (Exception e) {
            int code = e instanceof UnsupportedOperationException ? -32601 : -32603;
            String message = e.toString().replaceAll("[\\\\\"\\p{Cntrl}]", " ");
            return "\"error\":{\"code\":" + code + ",\"message\":\"" + message + "\"}";
        }
    }

    /** A number or a string of a call, in which nothing is nested but options: a library for JSON would do it as well. */
    private static String field(String call, String key) {
        Matcher m = Pattern.compile("\"" + key + "\":(?:\"([^\"]*)\"|(\\d+))").matcher(call);
        if (!m.find()) {
            return null;
        }
        return m.group(1) != null ? m.group(1) : m.group(2);
    }

    public static void main(String[] args) throws IOException {
        Adapter adapter = new Adapter();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null; ) {
            System.out.println("{\"jsonrpc\":\"2.0\",\"id\":" + field(line, "id") + "," + adapter.answer(line) + "}");
        }
        Runtime.getRuntime().halt(0); // the end of input means stop, releasing nothing
    }
}
