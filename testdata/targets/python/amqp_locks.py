"""A persistent semaphore on RabbitMQ, after the amqp-locks guidelines, with pika.

Slot L of semaphore N is the durable queue N-L-A; whoever holds it has the exclusive queue N-L-B. Both
have x-max-length 0, so that the messages that ask whether they exist do not pile up.
"""

import pika
from pika.exceptions import AMQPConnectionError, ChannelClosedByBroker, ChannelWrongStateError, UnroutableError

RESOURCE_LOCKED = 405
EMPTY = {"x-max-length": 0}
TRANSIENT = pika.BasicProperties(delivery_mode=1)


class Busy(Exception):
    """Nothing was done, because others were in the way until the last attempt."""


def is_locked(error):
    """Whether the broker closed the channel because a queue is another connection's."""
    return isinstance(error, ChannelClosedByBroker) and error.reply_code == RESOURCE_LOCKED


class Session:
    """One connection with one channel in confirm mode."""

    REPAIRS = 2  # how often one command is sent again because its channel broke for no reason of its own

    def __init__(self, url):
        self.parameters = pika.URLParameters(url)
        self.parameters.heartbeat = 0  # nobody is there to answer them between two calls
        self.held = {}  # slot by semaphore; good for this connection only
        self.connection = None
        self.connect()

    def connect(self):
        """Connect unless connected. What was held went with the old connection."""
        if self.connection and self.connection.is_open:
            return
        self.held.clear()
        self.connection = pika.BlockingConnection(self.parameters)
        self.open_channel()

    def open_channel(self):
        self.channel = self.connection.channel()
        self.channel.confirm_delivery()

    def lost(self):
        """Forget a connection that is gone, and what was held on it."""
        self.held.clear()
        self.connection = None

    def command(self, send):
        """Send a command. A channel that the broker has closed is opened again, and the command repeated
        unless it was the reason."""
        for repairs in range(self.REPAIRS + 1):
            try:
                if not self.channel.is_open:
                    self.open_channel()
                return send(self.channel)
            except (ChannelClosedByBroker, ChannelWrongStateError) as closed:
                if is_locked(closed) or repairs == self.REPAIRS:
                    raise
            except AMQPConnectionError:
                self.lost()
                raise

    def exists(self, queue):
        """Ask by a message that must come back if there is no such queue. This breaks no channel."""
        try:
            self.command(lambda ch: ch.basic_publish("", queue, b"", TRANSIENT, mandatory=True))
        except UnroutableError:
            return False
        return True

    def claim(self, queue):
        """Declare a queue exclusively. False if it is another connection's."""
        try:
            self.command(lambda ch: ch.queue_declare(queue, exclusive=True, arguments=EMPTY))
        except ChannelClosedByBroker as closed:
            if not is_locked(closed):
                raise
            return False
        return True

    def delete(self, queue):
        """Delete a queue, unless it is another connection's: then it is not ours to delete any more."""
        try:
            self.command(lambda ch: ch.queue_delete(queue))
        except ChannelClosedByBroker as closed:
            if not is_locked(closed):
                raise


class Semaphore:
    """A semaphore as one client sees it: slots are numbered from 1."""

    MAX_SLOTS = 30  # where looking for slots ends
    CLAIMS = 4  # attempts at slots that somebody else claimed first
    ADMIN_CLAIMS = 4  # attempts at the administration mutex

    def __init__(self, session, name):
        self.session, self.name = session, name

    def a(self, slot):
        return f"{self.name}-{slot}-A"

    def b(self, slot):
        return f"{self.name}-{slot}-B"

    # What a lock's user calls.

    def acquire(self):
        """The slot that is now held, or None if all are taken."""
        self.session.connect()
        slot, claims = 1, 0
        while slot <= self.MAX_SLOTS and self.session.exists(self.a(slot)):
            if self.session.exists(self.b(slot)):
                slot += 1
            elif self.session.claim(self.b(slot)):
                return self.confirmed(slot)
            else:
                slot, claims = 1, claims + 1
                if claims == self.CLAIMS:
                    raise Busy("every slot that looked free was claimed by others first")
        return None

    def confirmed(self, slot):
        """A slot may have been removed while it was claimed. It is not granted then."""
        if not self.session.exists(self.a(slot)):
            self.session.delete(self.b(slot))
            return None
        self.session.held[self.name] = slot
        return slot

    def verify(self, slot):
        """Whether the slot is still held. An answer from the broker on the connection that claimed it
        means that B is still ours; what is left to ask is whether the slot is still there."""
        if self.session.held.get(self.name) != slot:
            return False
        try:
            if self.session.exists(self.a(slot)):
                return True
            self.release(slot)
        except AMQPConnectionError:
            pass
        return False

    def release(self, slot):
        if self.session.held.pop(self.name, None) == slot:
            self.session.delete(self.b(slot))

    # What an administrator calls.

    def create(self, slots):
        self.administer(lambda: self.declare(1, slots))

    def add(self, slots):
        def grow():
            top = self.count()
            self.declare(top + 1, top + slots)

        self.administer(grow)

    def remove(self, slots):
        """Delete the last slots, the highest first, so that there is never a hole."""

        def shrink():
            top = self.count()
            for slot in range(top, max(0, top - slots), -1):
                self.session.delete(self.a(slot))

        self.administer(shrink)

    def destroy(self):
        self.remove(self.MAX_SLOTS)

    def count(self):
        self.session.connect()
        slot = 1
        while slot <= self.MAX_SLOTS and self.session.exists(self.a(slot)):
            slot += 1
        return slot - 1

    def wait(self, slot, polls=4):
        """Wait until nobody holds a slot, which should have been removed."""
        self.session.connect()
        for _ in range(polls):
            if not self.session.exists(self.b(slot)):
                return
        raise Busy(f"slot {slot} is still held")

    def declare(self, first, last):
        for slot in range(first, last + 1):
            self.session.command(
                lambda ch: ch.queue_declare(self.a(slot), durable=True, arguments=EMPTY)
            )

    def administer(self, change):
        """Change slots while nobody else does."""
        self.session.connect()
        mutex = f"{self.name}-admin"
        for _ in range(self.ADMIN_CLAIMS):
            if self.session.claim(mutex):
                try:
                    change()
                finally:
                    if self.session.connection:  # otherwise it went with it
                        self.session.delete(mutex)
                return
        raise Busy("somebody else administers the semaphore")
