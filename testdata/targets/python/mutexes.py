"""Mutexes on RabbitMQ of several designs, with pika. Each is one client's: it holds one lock at most.

Whatever goes wrong that is no answer, the connection is given up, and with it what it holds.
"""

import pika
from pika.exceptions import AMQPError, ChannelClosedByBroker, UnroutableError

ACCESS_REFUSED, NOT_FOUND, RESOURCE_LOCKED = 403, 404, 405
PERSISTENT = pika.BasicProperties(delivery_mode=2)


class Refused(Exception):
    """Somebody else has what was claimed, or it is not there."""


class Client:
    """A connection with a channel, and the lock that is held by it."""

    def __init__(self, url):
        self.parameters = pika.URLParameters(url)
        self.parameters.heartbeat = 0  # nobody is there to answer them between two calls
        self.connection, self.held = None, None

    def connect(self):
        """Connect unless connected. What was held went with the old connection."""
        if self.connection and self.connection.is_open:
            return
        self.held = None
        self.connection = pika.BlockingConnection(self.parameters)
        self.open_channel()

    def open_channel(self):
        self.channel = self.connection.channel()

    def abandon(self):
        """Give the connection up: the broker frees what it holds."""
        connection, self.connection, self.held = self.connection, None, None
        try:
            if connection and connection.is_open:
                connection.close()
        except AMQPError:
            pass

    def ask(self, *codes, question):
        """Send a command to which the broker may say no by closing the channel."""
        try:
            return question()
        except ChannelClosedByBroker as closed:
            if closed.reply_code not in codes:
                raise
            self.open_channel()
            raise Refused from closed

    # What a lock's user calls.

    def acquire(self, name):
        try:
            self.connect()
            if self.claim(name):
                self.held = name
        except Refused:
            return False
        except AMQPError:
            self.abandon()
            raise
        return self.held == name

    def verify(self, name):
        if self.held != name:
            return False
        try:
            self.look(name)
        except AMQPError:
            self.abandon()
        return self.held == name

    def release(self, name):
        if self.held != name:
            return
        self.held = None
        try:
            self.give_back(name)
        except AMQPError:
            self.abandon()


class ExclusiveQueue(Client):
    """Whoever has the exclusive queue holds the lock."""

    def queue(self, name):
        return name + ".lock"

    def claim(self, name):
        arguments = {"x-max-length": 0}  # whoever publishes to see whether it exists leaves nothing
        self.ask(
            RESOURCE_LOCKED,
            question=lambda: self.channel.queue_declare(self.queue(name), exclusive=True, arguments=arguments),
        )
        return True

    def look(self, name):
        self.channel.queue_declare(self.queue(name), passive=True)

    def give_back(self, name):
        self.channel.queue_delete(self.queue(name))


class ConnectionForEachHold(ExclusiveQueue):
    """The same with a connection for each hold, whose end releases it."""

    def acquire(self, name):
        held = super().acquire(name)
        if not held:
            self.abandon()
        return held

    def give_back(self, name):
        self.connection.close()


class AutoDelete(ExclusiveQueue):
    """The exclusive queue goes with its consumer."""

    def claim(self, name):
        queue = self.queue(name)
        self.ask(RESOURCE_LOCKED, question=lambda: self.channel.queue_declare(queue, exclusive=True, auto_delete=True))
        self.tag = self.channel.basic_consume(queue, lambda *_: None, auto_ack=True)
        return True

    def give_back(self, name):
        self.channel.basic_cancel(self.tag)


class ReplyQueue(ExclusiveQueue):
    """Beside the lock's there is a queue that the broker names, for other answers. It goes with its channel."""

    def open_channel(self):
        super().open_channel()
        self.replies = self.channel.queue_declare("", exclusive=True, auto_delete=True).method.queue
        self.channel.basic_consume(self.replies, lambda *_: None, auto_ack=True)


class TwoConnections(ExclusiveQueue):
    """One connection publishes, to see without breaking a channel whether the lock is taken; the other claims."""

    def connect(self):
        super().connect()
        if not self.prober or not self.prober.is_open:
            self.prober = pika.BlockingConnection(self.parameters)
            self.probes = self.prober.channel()
            self.probes.confirm_delivery()

    def __init__(self, url):
        super().__init__(url)
        self.prober = None

    def abandon(self):
        super().abandon()
        prober, self.prober = self.prober, None
        try:
            if prober and prober.is_open:
                prober.close()
        except AMQPError:
            pass

    def claim(self, name):
        try:
            self.probes.basic_publish("", self.queue(name), b"", mandatory=True)
        except UnroutableError:
            return super().claim(name)
        return False


class Token(Client):
    """Whoever has the only message of a queue, unacknowledged, holds the lock. The queue and its message last; the
    first client makes them while it has an exclusive queue. Only when a third queue says that they are made are they
    used: who died in between left nothing that counts."""

    DURABLE = True

    def claim(self, name):
        if not self.made(name) and not self.make(name):
            return False
        method, _, _ = self.channel.basic_get(self.queue(name))
        self.tag = method.delivery_tag if method else None
        return self.tag is not None

    def queue(self, name):
        return name + ".token"

    def made(self, name):
        try:
            self.ask(NOT_FOUND, question=lambda: self.channel.queue_declare(name + ".made", passive=True))
        except Refused:
            return False
        return True

    def make(self, name):
        guard = name + ".making"
        self.ask(RESOURCE_LOCKED, question=lambda: self.channel.queue_declare(guard, exclusive=True))
        if not self.made(name):  # nobody has made it meanwhile
            self.fill(name)
            self.channel.queue_declare(name + ".made", durable=self.DURABLE)
        self.channel.queue_delete(guard)
        return True

    def fill(self, name):
        self.channel.queue_declare(self.queue(name), durable=self.DURABLE)
        self.channel.queue_purge(self.queue(name))
        self.put(name)

    def put(self, name):
        with_confirms = self.connection.channel()
        with_confirms.confirm_delivery()
        with_confirms.basic_publish("", self.queue(name), b"token", PERSISTENT, mandatory=True)
        with_confirms.close()

    def look(self, name):
        """An answer on the channel says that it is open, so that the message is still ours."""
        self.channel.queue_declare(self.queue(name), passive=True)

    def give_back(self, name):
        self.channel.basic_nack(self.tag, requeue=True)


class TransientToken(Token):
    """The same, with queues that a restart removes. Whoever misses them makes them anew."""

    DURABLE = False


class SubscribedToken(Token):
    """The token is not fetched but delivered: whoever subscribes waits for a while."""

    PATIENCE = 0.02  # seconds, unless it is told how long

    def acquire_within(self, name, timeout):
        self.PATIENCE = timeout
        try:
            return self.acquire(name)
        finally:
            del self.PATIENCE

    def claim(self, name):
        if not self.made(name) and not self.make(name):
            return False
        self.tag = None
        self.channel.basic_qos(prefetch_count=1)
        consumer = self.channel.basic_consume(self.queue(name), self.delivered)
        self.connection.process_data_events(time_limit=0)
        if self.tag is None:
            self.connection.process_data_events(time_limit=self.PATIENCE)
        self.channel.basic_cancel(consumer)  # what comes until then is given back
        return self.tag is not None

    def delivered(self, channel, method, *_):
        self.tag = method.delivery_tag


class ExclusiveConsumer(Client):
    """Whoever consumes the lock's queue exclusively holds the lock."""

    EXCLUSIVE = True

    def queue(self, name):
        return name + ".lock"

    def claim(self, name):
        self.channel.queue_declare(self.queue(name), durable=True)
        self.tag = self.ask(
            ACCESS_REFUSED,
            question=lambda: self.channel.basic_consume(self.queue(name), lambda *_: None, exclusive=self.EXCLUSIVE),
        )
        return True

    def look(self, name):
        self.channel.queue_declare(self.queue(name), passive=True)

    def give_back(self, name):
        self.channel.basic_cancel(self.tag)
