"""The same mutexes with one bug each, of the kind that people really make."""

from pika.exceptions import AMQPError

from mutexes import PERSISTENT, ExclusiveConsumer, ExclusiveQueue, Refused, SubscribedToken, Token


class LockedIsSuccess(ExclusiveQueue):
    """RESOURCE_LOCKED is taken for "it is there already", as it would be for a queue of one's own."""

    def claim(self, name):
        try:
            return super().claim(name)
        except Refused:
            return True


class ReleaseClosesChannel(ExclusiveQueue):
    """The channel is closed to release. An exclusive queue is the connection's, and stays."""

    def give_back(self, name):
        self.channel.close()
        self.open_channel()


class FromMemory:
    """verify tells what it remembers, and asks nobody."""

    def verify(self, name):
        return self.held == name


class ClaimsForMoment(ExclusiveQueue):
    """The connection is closed when the call is over, as is good practice elsewhere."""

    def acquire(self, name):
        held = super().acquire(name)
        self.connection.close()
        return held


class Unguarded(Token):
    """Two who find no token at the same time both make one."""

    def make(self, name):
        self.channel.queue_declare(self.queue(name), durable=True)
        self.put(name)
        self.channel.queue_declare(name + ".made", durable=True)
        return True


class Acknowledged(Token):
    """The message is acknowledged to release, as one acknowledges what is done: the token is gone for good."""

    def give_back(self, name):
        self.channel.basic_ack(self.tag)


class Republished(Token):
    """The token is put back by publishing it, and then not acknowledged: closing the channel puts it back, too."""

    def give_back(self, name):
        self.channel.basic_publish("", self.queue(name), b"token", PERSISTENT)
        self.channel.close()
        self.open_channel()


class Reconnects(Token):
    """verify connects again when the connection is gone, and does not ask what went with it."""

    def verify(self, name):
        held = self.held
        try:
            self.look(name)
        except AMQPError:
            self.connect()
        self.held = held
        return self.held == name


class StaysSubscribed(SubscribedToken):
    """Who has waited in vain stays subscribed: the token comes later, and nobody knows."""

    def claim(self, name):
        if not self.made(name) and not self.make(name):
            return False
        self.tag = None
        self.channel.basic_qos(prefetch_count=1)
        consumer = self.channel.basic_consume(self.queue(name), self.delivered)
        self.connection.process_data_events(time_limit=0)
        if self.tag is None:
            self.connection.process_data_events(time_limit=self.PATIENCE)
        if self.tag is not None:
            self.channel.basic_cancel(consumer)
        return self.tag is not None


class NotExclusive(ExclusiveConsumer):
    """The consumer is not exclusive: RabbitMQ serves them in turn."""

    EXCLUSIVE = False


class RefusedIsSuccess(ExclusiveConsumer):
    """ACCESS_REFUSED is overlooked, as the channel is opened again."""

    def claim(self, name):
        try:
            return super().claim(name)
        except Refused:
            self.tag = None
            return True

    def give_back(self, name):
        if self.tag:
            super().give_back(name)


class NotCancelled(ExclusiveConsumer):
    """Nobody cancels the consumer: the lock stays taken."""

    def give_back(self, name):
        pass


class ExclusiveFromMemory(FromMemory, ExclusiveQueue):
    pass


class TokenFromMemory(FromMemory, Token):
    pass


class ConsumerFromMemory(FromMemory, ExclusiveConsumer):
    pass


class ExitsWhenLocked(ExclusiveQueue):
    """RESOURCE_LOCKED is an exception that nobody catches but the shell: the program ends."""

    def claim(self, name):
        try:
            return super().claim(name)
        except Refused as e:
            raise SystemExit(f"{name} is locked") from e
