"""Mutexes of less usual designs, and two of them with a bug."""

from mutexes import PERSISTENT, Token


class DeadLetterToken(Token):
    """The token is released by rejecting it: its queue is where its own dead letters go."""

    def fill(self, name):
        own = {"x-dead-letter-exchange": "", "x-dead-letter-routing-key": self.queue(name)}
        self.channel.queue_declare(self.queue(name), durable=True, arguments=own)
        self.channel.queue_purge(self.queue(name))
        self.put(name)

    def give_back(self, name):
        self.channel.basic_reject(self.tag, requeue=False)
        self.look(name)  # an answer says that it has been


class CountingToken(Token):
    """The token carries a number, a fencing token: to release it, the next one is published and this one acknowledged, in
    one transaction."""

    def claim(self, name):
        if not self.made(name) and not self.make(name):
            return False
        self.transacted = self.connection.channel()
        self.transacted.tx_select()
        method, _, self.number = self.transacted.basic_get(self.queue(name))
        self.tag = method.delivery_tag if method else None
        if self.tag is None:
            self.transacted.close()
        return self.tag is not None

    def look(self, name):
        self.transacted.queue_declare(self.queue(name), passive=True)

    def give_back(self, name):
        self.publish_next(name)
        self.transacted.basic_ack(self.tag)
        self.transacted.tx_commit()
        self.transacted.close()

    def publish_next(self, name):
        number = int(self.number) + 1 if self.number.isdigit() else 1
        self.transacted.basic_publish("", self.queue(name), b"%d" % number, PERSISTENT)


class PooledToken(Token):
    """Channels are kept in a pool. Who holds the lock keeps the channel that has the token."""

    def open_channel(self):
        super().open_channel()
        self.pool = []

    def claim(self, name):
        self.channel = self.pool.pop() if self.pool else self.connection.channel()
        if not self.channel.is_open:
            self.channel = self.connection.channel()
        held = super().claim(name)
        if not held:
            self.pool.append(self.channel)
        return held

    def give_back(self, name):
        super().give_back(name)
        self.pool.append(self.channel)


class CommittedTwice(CountingToken):
    """What is published is committed by itself: until the old token is acknowledged there are two."""

    def publish_next(self, name):
        super().publish_next(name)
        self.transacted.tx_commit()


class AsksAnyChannel(PooledToken):
    """verify takes whatever channel there is: that of the token may be closed."""

    def look(self, name):
        channel = self.connection.channel()
        channel.queue_declare(self.queue(name), passive=True)
        channel.close()
