"""Mutexes with fencing tokens: a number that grows with every grant, so that what the lock guards can refuse who is late.
Two are right, and four have a bug of the kind that people really make."""

from mutexes import NOT_FOUND, PERSISTENT, ExclusiveQueue, Refused
from unusual_mutexes import CountingToken


class FencedQueue(ExclusiveQueue):
    """Whoever has the exclusive queue holds the lock, and draws a number while it does: the only message of another queue has
    the last one. The next is published in the transaction that acknowledges that. Only when a third queue says that there
    is a number is it drawn: who died in between left nothing that counts."""

    def claim(self, name):
        super().claim(name)
        self.token = self.draw(name)
        return True

    def draw(self, name):
        numbers = self.connection.channel()
        numbers.tx_select()
        numbers.queue_declare(self.numbers(name), durable=True)
        begun = self.begun(name)
        if not begun:
            numbers.queue_purge(self.numbers(name))
        number = self.following(name, numbers)
        if not begun:
            self.channel.queue_declare(name + ".begun", durable=True)
        numbers.close()
        return number

    def following(self, name, numbers):
        """The number after the one that is there."""
        method, _, last = numbers.basic_get(self.numbers(name))
        number = int(last) + 1 if method else 1
        numbers.basic_publish("", self.numbers(name), b"%d" % number, PERSISTENT)
        if method:
            numbers.basic_ack(method.delivery_tag)
        numbers.tx_commit()
        return number

    def numbers(self, name):
        return name + ".numbers"

    def begun(self, name):
        try:
            self.ask(NOT_FOUND, question=lambda: self.channel.queue_declare(name + ".begun", passive=True))
        except Refused:
            return False
        return True


class CountedByClient(ExclusiveQueue):
    """Each client counts its own grants."""

    token = 0

    def claim(self, name):
        super().claim(name)
        self.token += 1
        return True


class DeliveryTag(FencedQueue):
    """The number is the delivery tag of a message, which each channel counts from 1."""

    def following(self, name, numbers):
        method, _, _ = numbers.basic_get(self.numbers(name))
        if method:
            numbers.basic_nack(method.delivery_tag)
        else:
            numbers.basic_publish("", self.numbers(name), b"token", PERSISTENT)
        numbers.tx_commit()
        return method.delivery_tag if method else 1


class CountedByRelease(CountingToken):
    """The number is that of the message by which the lock is held, and grows when it is released: who dies leaves it to the
    next as it is."""

    def claim(self, name):
        held = super().claim(name)
        if held:
            self.token = int(self.number) if self.number.isdigit() else 1
        return held

    def publish_next(self, name):
        self.transacted.basic_publish("", self.queue(name), b"%d" % (self.token + 1), PERSISTENT)


class LengthOfQueue(ExclusiveQueue):
    """Whoever has the exclusive queue holds the lock, and publishes to another queue while it does: how many messages that has
    is the number. It is right, and takes more room with each grant."""

    def claim(self, name):
        super().claim(name)
        self.token = self.draw(name)
        return True

    def draw(self, name):
        numbers = name + ".numbers"
        self.channel.queue_declare(numbers, durable=True)
        confirmed = self.connection.channel()
        confirmed.confirm_delivery()
        confirmed.basic_publish("", numbers, b"", PERSISTENT)
        confirmed.close()
        return self.channel.queue_declare(numbers, durable=True, passive=True).method.message_count


class DrawnFirst(LengthOfQueue):
    """The number is drawn before the lock is had: who is overtaken in between has a smaller one than who held it before."""

    def claim(self, name):
        self.token = self.draw(name)
        return ExclusiveQueue.claim(self, name)
