import com.rabbitmq.client.ShutdownSignalException;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.OptionalInt;

/**
 * A persistent semaphore on RabbitMQ, after the amqp-locks guidelines, as one client sees it: slots are numbered from 1.
 *
 * <p>Slot L of semaphore N is the durable queue N-L-A; whoever holds it has the exclusive queue N-L-B.
 */
class SlotSemaphore extends Session {
    private static final int MAX_SLOTS = 30; // where looking for slots ends
    private static final int CLAIMS = 4; // attempts at slots that somebody else claimed first
    private static final int ADMIN_CLAIMS = 4; // attempts at the administration mutex
    private static final int POLLS = 4; // looks at a slot that is waited for

    protected final Map<String, Integer> held = new HashMap<>(); // slot by semaphore

    SlotSemaphore(String url) {
        super(url);
    }

    /** Nothing was done, because others were in the way until the last attempt. */
    static final class BusyException extends RuntimeException {
        private static final long serialVersionUID = 1;

        BusyException(String message) {
            super(message);
        }
    }

    /** Changes slots. */
    protected interface Change {
        void make() throws IOException;
    }

    protected static String a(String name, int slot) {
        return name + "-" + slot + "-A";
    }

    protected static String b(String name, int slot) {
        return name + "-" + slot + "-B";
    }

    protected static String mutex(String name) {
        return name + "-admin";
    }

    @Override
    protected final void lost() {
        held.clear();
    }

    // What a lock's user calls.

    /** The slot that is now held, or none if all are taken. */
    OptionalInt tryAcquire(String name) throws IOException {
        connect();
        int slot = 1;
        for (int claims = 0; claims < CLAIMS; ) {
            if (slot > MAX_SLOTS || !exists(a(name, slot))) {
                return OptionalInt.empty();
            }
            if (exists(b(name, slot))) {
                slot++;
            } else if (claim(b(name, slot))) {
                return confirmed(name, slot);
            } else {
                slot = 1;
                claims++;
            }
        }
        throw new BusyException("every slot that looked free was claimed by others first");
    }

    /** A slot may have been removed while it was claimed. It is not granted then. */
    private OptionalInt confirmed(String name, int slot) throws IOException {
        if (!exists(a(name, slot))) {
            delete(b(name, slot));
            return OptionalInt.empty();
        }
        held.put(name, slot);
        return OptionalInt.of(slot);
    }

    protected final boolean believes(String name, int slot) {
        return held.getOrDefault(name, 0) == slot;
    }

    /**
     * Whether the slot is still held. An answer from the broker on the connection that claimed it means that B is still
     * ours; what is left to ask is whether the slot is still there.
     */
    boolean isHeld(String name, int slot) throws IOException {
        if (!believes(name, slot)) {
            return false;
        }
        try {
            if (exists(a(name, slot))) {
                return true;
            }
            release(name, slot);
        } catch (IOException | ShutdownSignalException e) {
            if (connected()) {
                throw e;
            }
        }
        return false;
    }

    void release(String name, int slot) throws IOException {
        if (held.remove(name, slot)) {
            giveBack(b(name, slot));
        }
    }

    protected void giveBack(String queue) throws IOException {
        delete(queue);
    }

    // What an administrator calls.

    final void create(String name, int slots) throws IOException {
        administer(name, () -> grow(name, 0, slots));
    }

    final void add(String name, int slots) throws IOException {
        administer(name, () -> grow(name, count(name), slots));
    }

    final void remove(String name, int slots) throws IOException {
        administer(name, () -> shrink(name, count(name), slots));
    }

    final void destroy(String name) throws IOException {
        remove(name, MAX_SLOTS);
    }

    int count(String name) throws IOException {
        connect();
        int slot = 1;
        while (slot <= MAX_SLOTS && exists(a(name, slot))) {
            slot++;
        }
        return slot - 1;
    }

    /** Waits until nobody holds a slot, which should have been removed. */
    final void awaitFree(String name, int slot) throws IOException {
        connect();
        for (int polls = 0; polls < POLLS; polls++) {
            if (!exists(b(name, slot))) {
                return;
            }
        }
        throw new BusyException("slot " + slot + " is still held");
    }

    private void grow(String name, int top, int slots) throws IOException {
        for (int slot = top + 1; slot <= top + slots; slot++) {
            declare(a(name, slot));
        }
    }

    /** Deletes the last slots, the highest first, so that there is never a hole. */
    protected void shrink(String name, int top, int slots) throws IOException {
        for (int slot = top; slot > Math.max(0, top - slots); slot--) {
            delete(a(name, slot));
        }
    }

    /** Changes slots while nobody else does. */
    protected void administer(String name, Change change) throws IOException {
        connect();
        for (int claims = 0; claims < ADMIN_CLAIMS; claims++) {
            if (claim(mutex(name))) {
                try {
                    change.make();
                } finally {
                    if (connected()) { // otherwise it went with it
                        delete(mutex(name));
                    }
                }
                return;
            }
        }
        throw new BusyException("somebody else administers the semaphore");
    }
}
