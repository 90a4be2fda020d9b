"""A mutex on Redis: a key with a token of its own, which expires. The client takes a socket and no library.

The others are the same mutex with one bug each, of the kind that people really make.
"""

import itertools
import os
import socket
import threading
import time
from urllib.parse import urlsplit

IS_OURS = 'return redis.call("get", KEYS[1]) == ARGV[1] and 1 or 0'
DELETE_OURS = 'return redis.call("get", KEYS[1]) == ARGV[1] and redis.call("del", KEYS[1]) or 0'


class Redis:
    """A connection, made when it is needed. When the reply to a command does not come, the command may have been carried out."""

    def __init__(self, url):
        self.address = urlsplit(url)
        self.file = None

    def __call__(self, *words):
        try:
            if not self.file:
                with socket.create_connection((self.address.hostname, self.address.port)) as connection:
                    self.file = connection.makefile("rwb")
            self.file.write(b"*%d\r\n" % len(words))
            for word in (str(w).encode() for w in words):
                self.file.write(b"$%d\r\n%s\r\n" % (len(word), word))
            self.file.flush()
            return self.reply()
        except OSError:
            self.file = None
            raise

    def reply(self):
        line = self.file.readline()
        kind, rest = line[:1], line[1:].strip()
        if not line:
            raise ConnectionError("the connection was closed")
        if kind == b"-":
            raise RuntimeError(rest.decode())
        if kind == b":":
            return int(rest)
        if kind == b"$":
            return None if rest == b"-1" else self.file.read(int(rest) + 2)[:-2].decode()
        return rest.decode()


class Lease:
    tokens = itertools.count(1)

    def __init__(self, url):
        self.redis = Redis(url)
        self.token = None

    def acquire(self, name, ttl):
        self.token = f"{os.getpid()}-{next(self.tokens)}"
        return self.redis("SET", name, self.token, "NX", "PX", ttl) == "OK"

    def verify(self, name):
        return self.redis("EVAL", IS_OURS, 1, name, self.token) == 1

    def release(self, name):
        self.redis("EVAL", DELETE_OURS, 1, name, self.token)


class ForgetsToken(Lease):
    """An acquire without a reply has failed, as far as it knows: what it may have set stays until the lease ends."""

    def acquire(self, name, ttl):
        try:
            return super().acquire(name, ttl)
        except OSError:
            self.token = None
            raise


class TidiesUp(Lease):
    """An acquire without a reply deletes what it may have set. It knows its token, and tries again if that has no reply either."""

    def acquire(self, name, ttl):
        try:
            return super().acquire(name, ttl)
        except OSError:
            self.release(name)
            raise

    def release(self, name):
        for _ in range(4):
            try:
                return super().release(name)
            except OSError as error:
                failure = error
        raise failure


class DeletesAnybodys(Lease):
    """Whoever releases deletes the key: after the lease has ended it is somebody else's."""

    def release(self, name):
        self.redis("DEL", name)


class LooksFirst(Lease):
    """It is looked whether the lock is free, and then it is taken."""

    def acquire(self, name, ttl):
        self.token = f"{os.getpid()}-{next(self.tokens)}"
        return self.redis("GET", name) is None and self.redis("SET", name, self.token, "PX", ttl) == "OK"


class ExpiresLater(Lease):
    """The lease is set by a command of its own: if the client dies before that, nobody gets the lock again."""

    def acquire(self, name, ttl):
        self.token = f"{os.getpid()}-{next(self.tokens)}"
        return self.redis("SETNX", name, self.token) == 1 and self.redis("PEXPIRE", name, ttl) == 1


class Retries(Lease):
    """An acquire that does not get the lock sleeps, and tries again for a while."""

    def acquire(self, name, ttl):
        for _ in range(8):
            if super().acquire(name, ttl):
                return True
            time.sleep(0.25)
        return False


TAKE_IF_OVER = """
    local ends = redis.call("get", KEYS[1])
    if ends and tonumber(ends:match("^%d+")) > tonumber(ARGV[1]) then return 0 end
    redis.call("set", KEYS[1], ARGV[2])
    return 1
"""


class ByItsClock(Lease):
    """The key does not expire: it says when the lease ends, by the clock of its holder, and others compare that with theirs."""

    def acquire(self, name, ttl):
        now = int(time.time() * 1000)
        self.token = f"{now + ttl}-{os.getpid()}-{next(self.tokens)}"
        return self.redis("EVAL", TAKE_IF_OVER, 1, name, now, self.token) == 1


class TrustsItsClock(Lease):
    """Whoever releases deletes the key if the lease lasts by the client's clock: it may end before the command is carried out."""

    def acquire(self, name, ttl):
        self.ends = time.time() + ttl / 1000
        return super().acquire(name, ttl)

    def release(self, name):
        if time.time() < self.ends:
            self.redis("DEL", name)


SET_OURS = 'return redis.call("get", KEYS[1]) == ARGV[1] and redis.call("set", KEYS[1], ARGV[2]) and 1 or 0'


class ShortensLater(ByItsClock):
    """The lease is ten times as long at first, and shortened by a second command: it ends late if the client dies before that."""

    def acquire(self, name, ttl):
        if not super().acquire(name, 10 * ttl):
            return False
        long, self.token = self.token, f"{int(time.time() * 1000) + ttl}-{os.getpid()}-{next(self.tokens)}"
        return self.redis("EVAL", SET_OURS, 1, name, long, self.token) == 1


RENEW_OURS = 'return redis.call("get", KEYS[1]) == ARGV[1] and redis.call("pexpire", KEYS[1], ARGV[2]) or 0'


class Renews(Lease):
    """A thread renews the lease every third of it, until the lock is released."""

    def __init__(self, url):
        super().__init__(url)
        self.url = url
        self.over = threading.Event()

    def acquire(self, name, ttl):
        if not super().acquire(name, ttl):
            return False
        self.over = threading.Event()
        threading.Thread(target=self.renewing, args=(name, self.token, ttl, self.over), daemon=True).start()
        return True

    def renewing(self, name, token, ttl, over):
        redis = Redis(self.url)
        try:
            while not over.wait(ttl / 3000) and self.renew(redis, name, token, ttl):
                pass
        except (OSError, RuntimeError):
            pass  # the lease ends

    def renew(self, redis, name, token, ttl):
        return redis("EVAL", RENEW_OURS, 1, name, token, ttl) == 1

    def release(self, name):
        self.over.set()
        super().release(name)


class DiesOfRenewing(Renews):
    """The client ends when a renewal finds that the lock is no longer its own: it may have given it back just before."""

    def acquire(self, name, ttl):
        self.ends = time.time() + ttl / 1000
        return super().acquire(name, ttl)

    def renew(self, redis, name, token, ttl):
        renewed = super().renew(redis, name, token, ttl)
        if not renewed and time.time() < self.ends:
            os._exit(1)
        return renewed


class RenewsOn(Renews):
    """The thread is not told of the release, and sets the key: the lock is held again, and by nobody who knows."""

    def renew(self, redis, name, token, ttl):
        return redis("SET", name, token, "PX", ttl) == "OK"

    def release(self, name):
        Lease.release(self, name)


class Extends(Lease):
    """Its holder extends the lease: no longer than the key is its own."""

    def extend(self, name, ttl):
        return self.redis("EVAL", RENEW_OURS, 1, name, self.token, ttl) == 1


class ExtendsAnybodys(Lease):
    """Whoever extends has the key live longer: after the lease has ended it is somebody else's."""

    def extend(self, name, ttl):
        return self.redis("PEXPIRE", name, ttl) == 1


class OnlyAsks(Lease):
    """An extension asks whether the key is its own, and has it end when it would have."""

    def extend(self, name, ttl):
        return self.verify(name)


class AsksAndExtends(Lease):
    """The lease may end between the question and the extension."""

    def extend(self, name, ttl):
        return self.redis("GET", name) == self.token and self.redis("PEXPIRE", name, ttl) == 1


class ShortensByExtending(Lease):
    """The lease that is extended is a tenth of what it is to be: the unit is wrong."""

    def extend(self, name, ttl):
        return self.redis("EVAL", RENEW_OURS, 1, name, self.token, ttl // 10) == 1


class TellsLosses(Renews):
    """Its holder is told when a renewal finds that the lock is no longer its own. An attribute, lost, is a function of a name."""

    def __init__(self, url):
        super().__init__(url)
        self.lost = None

    def acquire(self, name, ttl):
        self.over.set()  # nobody is told of what was given up before
        return super().acquire(name, ttl)

    def renewing(self, name, token, ttl, over):
        redis = Redis(self.url)
        while not over.wait(ttl / 3000):
            try:
                renewed = self.renew(redis, name, token, ttl)
            except (OSError, RuntimeError):
                continue  # it tries again
            if over.is_set():
                return
            if not renewed:
                self.lost(name)
                return


class NeverTells(TellsLosses):
    """It promises to tell, and does not."""

    def renewing(self, name, token, ttl, over):
        Renews.renewing(self, name, token, ttl, over)


class GivesUpRenewing(TellsLosses):
    """A renewal that fails because the connection is lost is the last one, and nobody is told."""

    def renewing(self, name, token, ttl, over):
        redis = Redis(self.url)
        try:
            redis("PING")  # it connects at once
            while not over.wait(ttl / 3000):
                if not self.renew(redis, name, token, ttl):
                    return over.is_set() or self.lost(name)
        except OSError:
            pass


class TellsFalsely(TellsLosses):
    """It tells that the lock is lost once it is time to renew it."""

    def renewing(self, name, token, ttl, over):
        if not over.wait(ttl / 3000):
            self.lost(name)


class TellsAndReleases(TellsLosses):
    """Whose lock is lost deletes the key, which is somebody else's by then."""

    def renew(self, redis, name, token, ttl):
        renewed = super().renew(redis, name, token, ttl)
        if not renewed:
            redis("DEL", name)
        return renewed
