"""A mutex on Redis: a key with a token of its own, which expires. The client takes a socket and no library.

The others are the same mutex with one bug each, of the kind that people really make.
"""

import itertools
import os
import socket
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
