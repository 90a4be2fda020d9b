import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.DefaultConsumer;
import com.rabbitmq.client.GetResponse;
import com.rabbitmq.client.MessageProperties;
import java.io.IOException;
import java.util.concurrent.TimeoutException;

/** The same mutexes with one bug each, of the kind that people really make. */
final class WrongMutexes {
    private WrongMutexes() {}

    /** An IOException is taken for "it is there already", as it would be for a queue of one's own. */
    static class LockedIsSuccess extends Mutexes.ExclusiveQueue {
        LockedIsSuccess(String url) {
            super(url);
        }

        @Override
        protected boolean claim(String name) throws IOException {
            super.claim(name);
            return true;
        }
    }

    /** The channel is closed to release. An exclusive queue is the connection's, and stays. */
    static class ReleaseClosesChannel extends Mutexes.ExclusiveQueue {
        ReleaseClosesChannel(String url) {
            super(url);
        }

        @Override
        protected void giveBack(String name) throws IOException {
            try {
                channel.close();
            } catch (TimeoutException e) {
                throw new IOException(e);
            }
        }
    }

    /** isHeld tells what it remembers, and asks nobody. */
    static class FromMemory extends Mutexes.ExclusiveQueue {
        FromMemory(String url) {
            super(url);
        }

        @Override
        protected void look(String name) {}
    }

    /** noLocal and exclusive are confused: the consumer is not exclusive, and RabbitMQ serves them in turn. */
    static class ArgumentsConfused extends Mutexes.ExclusiveConsumer {
        ArgumentsConfused(String url) {
            super(url);
        }

        @Override
        protected String consume(String queue) throws IOException {
            return channel.basicConsume(queue, true, "", true, false, null, new DefaultConsumer(channel));
        }
    }

    /** Nobody cancels the consumer when the lock is released. */
    static class NotCancelled extends Mutexes.ExclusiveConsumer {
        NotCancelled(String url) {
            super(url);
        }

        @Override
        protected void giveBack(String name) {}
    }

    /** The message is acknowledged when it is fetched, and is gone with a crash. Who releases publishes it anew. */
    static class FetchedForGood extends Mutexes.Token {
        FetchedForGood(String url) {
            super(url);
        }

        @Override
        protected GetResponse fetch(String queue) throws IOException {
            return channel.basicGet(queue, true);
        }

        @Override
        protected void giveBack(String name) throws IOException {
            channel.basicPublish("", queue(name), MessageProperties.MINIMAL_PERSISTENT_BASIC, TOKEN);
            look(name);
        }
    }

    /** The message is rejected to release, and dropped: requeue is confused with multiple, which nack has before it. */
    static class NotRequeued extends Mutexes.Token {
        NotRequeued(String url) {
            super(url);
        }

        @Override
        protected void giveBack(String name) throws IOException {
            channel.basicNack(tag, true, false);
            look(name);
        }
    }

    /** The consumer that waits is taken for the active one. */
    static class WaitingIsActive extends Mutexes.ActiveConsumer {
        WaitingIsActive(String url) {
            super(url);
        }

        @Override
        protected boolean claim(String name) throws IOException {
            super.claim(name);
            return true;
        }
    }

    /** The library's recovery is left on, as it is by default: it connects again, and claims again what it can. */
    static class Recovers extends Mutexes.ExclusiveQueue {
        Recovers(String url) {
            super(url);
        }

        @Override
        protected void configure(ConnectionFactory factory) {
            factory.setNetworkRecoveryInterval(1); // milliseconds; 5 seconds by default
            factory.setRequestedHeartbeat(0);
        }

        /** What was sent while there was no connection is sent again. */
        @Override
        protected void look(String name) throws IOException {
            for (int attempts = 50; ; attempts--) {
                try {
                    if (channel.isOpen()) {
                        super.look(name);
                        return;
                    }
                } catch (IOException | com.rabbitmq.client.AlreadyClosedException e) {
                    if (attempts == 0) {
                        throw e;
                    }
                }
                if (attempts == 0) {
                    throw new IOException("the connection does not come back");
                }
                try {
                    Thread.sleep(10);
                } catch (InterruptedException e) {
                    throw new IOException(e);
                }
            }
        }
    }
}
