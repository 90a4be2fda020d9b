import java.io.IOException;
import java.util.Map;
import java.util.function.Function;

/** The same semaphore with one bug each, of the kind that people really make. */
final class WrongSemaphores {
    private WrongSemaphores() {}

    static final Map<String, Function<String, SlotSemaphore>> BY_BUG = Map.of(
            "return-ignored", ReturnIgnored::new,
            "locked-is-success", LockedIsSuccess::new,
            "release-closes-channel", ReleaseClosesChannel::new,
            "release-without-waiting", ReleaseWithoutWaiting::new,
            "held-from-memory", HeldFromMemory::new,
            "administers-anyway", AdministersAnyway::new);

    /** Nobody listens to returns. waitForConfirms is taken for the answer: the broker confirms what it returns, too. */
    static class ReturnIgnored extends SlotSemaphore {
        ReturnIgnored(String url) {
            super(url);
        }

        @Override
        protected boolean exists(String queue) throws IOException {
            super.exists(queue);
            return true;
        }
    }

    /** RESOURCE_LOCKED is taken for "it is there already", as it would be for a queue of one's own. */
    static class LockedIsSuccess extends SlotSemaphore {
        LockedIsSuccess(String url) {
            super(url);
        }

        @Override
        protected boolean claim(String queue) throws IOException {
            super.claim(queue);
            return true;
        }
    }

    /** The channel is closed to release. An exclusive queue is the connection's, and stays. */
    static class ReleaseClosesChannel extends SlotSemaphore {
        ReleaseClosesChannel(String url) {
            super(url);
        }

        @Override
        protected void giveBack(String queue) throws IOException {
            command(channel -> {
                channel.abort();
                return null;
            });
        }
    }

    /** queueDeleteNoWait returns before the broker has heard of it. */
    static class ReleaseWithoutWaiting extends SlotSemaphore {
        ReleaseWithoutWaiting(String url) {
            super(url);
        }

        @Override
        protected void giveBack(String queue) throws IOException {
            command(channel -> {
                channel.queueDeleteNoWait(queue, false, false);
                return null;
            });
        }
    }

    /** isHeld tells what it remembers, and asks nobody. */
    static class HeldFromMemory extends SlotSemaphore {
        HeldFromMemory(String url) {
            super(url);
        }

        @Override
        boolean isHeld(String name, int slot) {
            return believes(name, slot);
        }
    }

    /** Nobody looks at whether the administration mutex was had. */
    static class AdministersAnyway extends SlotSemaphore {
        AdministersAnyway(String url) {
            super(url);
        }

        @Override
        protected void administer(String name, Change change) throws IOException {
            connect();
            claim(mutex(name));
            change.make();
            delete(mutex(name));
        }
    }
}
