import com.rabbitmq.client.DefaultConsumer;
import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.Envelope;
import com.rabbitmq.client.GetResponse;
import com.rabbitmq.client.MessageProperties;
import java.io.IOException;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** Mutexes of several designs. */
final class Mutexes {
    private Mutexes() {}

    /** Whoever has the exclusive queue holds the lock. */
    static class ExclusiveQueue extends Mutex {
        ExclusiveQueue(String url) {
            super(url);
        }

        protected String queue(String name) {
            return name + ".lock";
        }

        @Override
        protected boolean claim(String name) throws IOException {
            return accepted(RESOURCE_LOCKED, () -> channel.queueDeclare(queue(name), false, true, false, null));
        }

        @Override
        protected void look(String name) throws IOException {
            channel.queueDeclarePassive(queue(name));
        }

        @Override
        protected void giveBack(String name) throws IOException {
            channel.queueDelete(queue(name));
        }
    }

    /** Whoever consumes the lock's queue exclusively holds the lock. */
    static class ExclusiveConsumer extends ExclusiveQueue {
        private String tag;

        ExclusiveConsumer(String url) {
            super(url);
        }

        @Override
        protected boolean claim(String name) throws IOException {
            channel.queueDeclare(queue(name), true, false, false, null);
            return accepted(ACCESS_REFUSED, () -> tag = consume(queue(name)));
        }

        protected String consume(String queue) throws IOException {
            boolean autoAck = true, noLocal = false, exclusive = true;
            return channel.basicConsume(queue, autoAck, "", noLocal, exclusive, null, new DefaultConsumer(channel));
        }

        @Override
        protected void giveBack(String name) throws IOException {
            channel.basicCancel(tag);
        }
    }

    /**
     * Whoever has the only message of a queue, unacknowledged, holds the lock. Queue and message last; the first client
     * makes them while it has an exclusive queue, and a third queue, made last, says that they are complete.
     */
    static class Token extends Mutex {
        protected static final byte[] TOKEN = "token".getBytes();
        protected long tag;

        Token(String url) {
            super(url);
        }

        protected String queue(String name) {
            return name + ".token";
        }

        @Override
        protected boolean claim(String name) throws IOException {
            if (!made(name) && !make(name)) {
                return false;
            }
            GetResponse token = fetch(queue(name));
            if (token != null) {
                tag = token.getEnvelope().getDeliveryTag();
            }
            return token != null;
        }

        protected GetResponse fetch(String queue) throws IOException {
            boolean autoAck = false;
            return channel.basicGet(queue, autoAck);
        }

        private boolean made(String name) throws IOException {
            return accepted(NOT_FOUND, () -> channel.queueDeclarePassive(name + ".made"));
        }

        private boolean make(String name) throws IOException {
            String guard = name + ".making";
            if (!accepted(RESOURCE_LOCKED, () -> channel.queueDeclare(guard, false, true, false, null))) {
                return false;
            }
            if (!made(name)) { // nobody has made it meanwhile
                fill(name);
            }
            channel.queueDelete(guard);
            return true;
        }

        private void fill(String name) throws IOException {
            channel.queueDeclare(queue(name), true, false, false, null);
            channel.queuePurge(queue(name));
            channel.confirmSelect();
            channel.basicPublish("", queue(name), MessageProperties.MINIMAL_PERSISTENT_BASIC, TOKEN);
            try {
                channel.waitForConfirms();
            } catch (InterruptedException e) {
                throw new IOException(e);
            }
            channel.queueDeclare(name + ".made", true, false, false, null);
        }

        @Override
        protected void look(String name) throws IOException {
            channel.queueDeclarePassive(queue(name));
        }

        @Override
        protected void giveBack(String name) throws IOException {
            boolean requeue = true;
            channel.basicReject(tag, requeue);
            look(name); // an answer says that it has been put back
        }
    }

    /**
     * Whoever is the single active consumer of the lock's queue holds the lock. RabbitMQ tells nobody that it has become
     * that, so who claims the lock publishes a message, which comes to itself only if it is.
     */
    static class ActiveConsumer extends ExclusiveQueue {
        private static final long PATIENCE_MILLIS = 20;
        private static final Map<String, Object> SINGLE = Map.of("x-single-active-consumer", true);
        private static final String CANCELLED = "cancelled"; // no message's body is this very string
        private String tag;

        ActiveConsumer(String url) {
            super(url);
        }

        @Override
        protected boolean claim(String name) throws IOException {
            channel.queueDeclare(queue(name), true, false, false, SINGLE);
            channel.confirmSelect();
            try {
                for (;;) {
                    String mine = UUID.randomUUID().toString();
                    BlockingQueue<String> delivered = new LinkedBlockingQueue<>();
                    subscribe(queue(name), delivered);
                    channel.basicPublish("", queue(name), null, mine.getBytes());
                    channel.waitForConfirms();
                    if (arrives(mine, delivered)) {
                        return true;
                    }
                    channel.basicCancel(tag);
                    if (!cameLate(mine, delivered)) { // otherwise it could have had the lock, and tries again
                        return false;
                    }
                }
            } catch (InterruptedException e) {
                throw new IOException(e);
            }
        }

        private void subscribe(String queue, BlockingQueue<String> delivered) throws IOException {
            tag = channel.basicConsume(queue, true, new DefaultConsumer(channel) {
                @Override
                public void handleDelivery(String tag, Envelope envelope, AMQP.BasicProperties properties, byte[] body) {
                    delivered.add(new String(body));
                }

                @Override
                public void handleCancelOk(String tag) {
                    delivered.add(CANCELLED);
                }
            });
        }

        private static boolean arrives(String mine, BlockingQueue<String> delivered) throws InterruptedException {
            for (String body; (body = delivered.poll(PATIENCE_MILLIS, TimeUnit.MILLISECONDS)) != null; ) {
                if (body.equals(mine)) {
                    return true;
                }
            }
            return false;
        }

        /** All that was delivered before the subscription ended has come when its end comes. */
        private static boolean cameLate(String mine, BlockingQueue<String> delivered) throws InterruptedException, IOException {
            boolean came = false;
            for (String body; (body = delivered.poll(1, TimeUnit.SECONDS)) != CANCELLED; ) {
                if (body == null) {
                    throw new IOException("the channel is gone");
                }
                came |= body.equals(mine);
            }
            return came;
        }

        @Override
        protected void giveBack(String name) throws IOException {
            channel.basicCancel(tag);
        }
    }
}
