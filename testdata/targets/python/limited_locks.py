"""Locks of which callers state how many may hold them at once, and may differ. Nobody creates them: they have no slots. One is
right, and two have a bug of the kind that people really make."""

from mutexes import RESOURCE_LOCKED, Client, Refused


class Counted(Client):
    """Whoever holds the lock consumes one queue, and who begins to is told how many do. If those are too many, it ends that."""

    def acquire_limited(self, name, limit):
        self.limit = limit
        return self.acquire(name)

    def holders(self, name):
        return self.channel.queue_declare(name + ".holders", durable=True).method.consumer_count

    def claim(self, name):
        self.holders(name)
        self.tag = self.channel.basic_consume(name + ".holders", lambda *_: None, auto_ack=True)
        if self.holders(name) <= self.limit:
            return True
        self.give_back(name)
        return False

    def look(self, name):
        self.channel.queue_declare(name + ".holders", passive=True)

    def give_back(self, name):
        self.channel.basic_cancel(self.tag)


class CountedFirst(Counted):
    """It looks how many consume before it does: others may begin to in between."""

    def claim(self, name):
        if self.holders(name) >= self.limit:
            return False
        self.tag = self.channel.basic_consume(name + ".holders", lambda *_: None, auto_ack=True)
        return True


class SlotsBelowLimit(Counted):
    """There is an exclusive queue for each who may hold the lock, and who has one of the first so many holds it. Where callers
    differ, one with a smaller limit is one more beside those who have the queues beyond that."""

    def claim(self, name):
        for slot in range(1, self.limit + 1):
            self.queue = f"{name}.{slot}"
            try:
                self.ask(RESOURCE_LOCKED, question=lambda: self.channel.queue_declare(self.queue, exclusive=True))
            except Refused:
                continue
            return True
        return False

    def look(self, name):
        self.channel.queue_declare(self.queue, passive=True)

    def give_back(self, name):
        self.channel.queue_delete(self.queue)
