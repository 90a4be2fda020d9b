"""The same semaphore with one bug each, of the kind that people really make."""

from pika.exceptions import AMQPConnectionError, AMQPError, UnroutableError

from amqp_locks import TRANSIENT, Busy, Semaphore, Session


class NotMandatory(Session):
    """The probe is published without mandatory: it never comes back, and every queue seems to exist."""

    def exists(self, queue):
        self.command(lambda ch: ch.basic_publish("", queue, b"", TRANSIENT))
        return True


class ReturnIgnored(Session):
    """The confirm is awaited, and taken for the answer: the broker confirms what it returns, too."""

    def exists(self, queue):
        try:
            self.command(lambda ch: ch.basic_publish("", queue, b"", TRANSIENT, mandatory=True))
        except UnroutableError:
            pass
        return True


class VerifyReconnects(Semaphore):
    """verify reconnects when the connection is gone, and does not ask what went with it."""

    def verify(self, slot):
        if self.name not in self.session.held:
            return False
        try:
            return self.session.exists(self.a(slot))
        except AMQPConnectionError:
            self.session.connect()
            self.session.held[self.name] = slot
            return self.session.exists(self.a(slot))


class ReleaseClosesChannel(Semaphore):
    """The channel is closed to release. An exclusive queue is the connection's, and stays."""

    def release(self, slot):
        if self.session.held.pop(self.name, None) == slot:
            self.session.channel.close()
            self.session.open_channel()


class NoCleanup(Session):
    """After RESOURCE_LOCKED the channel is closed, and nobody opens it again before the next call."""

    def connect(self):
        super().connect()
        if not self.channel.is_open:
            self.open_channel()

    def command(self, send):
        try:
            return send(self.channel)
        except AMQPConnectionError:
            self.lost()
            raise


class ErrorsAreFull(Semaphore):
    """Whatever goes wrong, the slot was taken: what people write around a channel that is never cleaned up."""

    def acquire(self):
        try:
            return super().acquire()
        except (AMQPError, Busy):
            return None


class LockedIsSuccess(Session):
    """RESOURCE_LOCKED is taken for "it is there already", as it would be for a queue of one's own."""

    def claim(self, queue):
        super().claim(queue)
        return True


# What to run instead of (Session, Semaphore), by the name of the bug.
WRONG = {
    "not-mandatory": (NotMandatory, Semaphore),
    "return-ignored": (ReturnIgnored, Semaphore),
    "verify-reconnects": (Session, VerifyReconnects),
    "release-closes-channel": (Session, ReleaseClosesChannel),
    "no-cleanup": (NoCleanup, ErrorsAreFull),
    "locked-is-success": (LockedIsSuccess, Semaphore),
}
