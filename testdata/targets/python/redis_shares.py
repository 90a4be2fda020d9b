"""Locks on Redis of which clients take shares: to read or to write, or several permits. Each script is one step for the server.

The others are the same locks with one bug each.
"""

import itertools
import os

from redis_mutexes import Redis

# The key is a hash: each holder's name, and when its lease ends, by the server's clock. A writer is alone, and its name begins with "w".
DROP = """
    local t = redis.call("time")
    local now = t[1] * 1000 + math.floor(t[2] / 1000)
    local all, held, writers, readers = redis.call("hgetall", KEYS[1]), 0, 0, 0
    for i = 1, #all, 2 do
        local ends, permits = all[i + 1]:match("(%d+) (%d+)")
        if tonumber(ends) <= now then
            redis.call("hdel", KEYS[1], all[i])
        else
            held = held + permits
            if all[i]:sub(1, 1) == "w" then writers = writers + 1 else readers = readers + 1 end
        end
    end
    local function take(permits)
        redis.call("hset", KEYS[1], ARGV[1], (now + ARGV[2]) .. " " .. permits)
        return 1
    end
"""


class Shared:
    """What the locks here have in common."""

    tokens = itertools.count(1)

    def __init__(self, url):
        self.redis = Redis(url)
        self.token = None

    def take(self, script, name, kind, ttl, *more):
        self.token = f"{kind}{os.getpid()}-{next(self.tokens)}"
        return self.redis("EVAL", DROP + script, 1, name, self.token, ttl, *more) == 1

    def release(self, name):
        self.redis("HDEL", name, self.token)


class ReadsAndWrites(Shared):
    """Many read at once, and nobody while somebody writes."""

    READ = "if writers > 0 then return 0 end return take(1)"
    WRITE = "if writers + readers > 0 then return 0 end return take(1)"

    def acquire(self, name, ttl, mode):
        return self.take(self.READ if mode == "read" else self.WRITE, name, mode[0], ttl)


class WritesBesideReaders(ReadsAndWrites):
    """A writer looks for writers only."""

    WRITE = "if writers > 0 then return 0 end return take(1)"


class ReadsBesideWriters(ReadsAndWrites):
    """A reader looks for nobody."""

    READ = "return take(1)"


class ReadsAlone(ReadsAndWrites):
    """Readers exclude one another: it is no more than a mutex."""

    READ = ReadsAndWrites.WRITE


class LooksThenReads(ReadsAndWrites):
    """A reader looks for writers, and joins by a second command."""

    def acquire(self, name, ttl, mode):
        if mode == "write":
            return super().acquire(name, ttl, mode)
        if self.redis("EVAL", DROP + "return writers", 1, name) > 0:
            return False
        return self.take("return take(1)", name, "r", ttl)


class Permits(Shared):
    """An acquire takes all the permits that it asks for, or none."""

    TAKE = "if held + ARGV[3] > tonumber(ARGV[4]) then return 0 end return take(ARGV[3])"

    def acquire(self, name, ttl, permits, limit):
        return self.take(self.TAKE, name, "p", ttl, permits, limit)


class CountsHolders(Permits):
    """The limit counts those who hold the semaphore, and not their permits."""

    TAKE = "if writers + readers >= tonumber(ARGV[4]) then return 0 end return take(ARGV[3])"


class OneTooMany(Permits):
    """It is looked whether one permit is free, and all are taken."""

    TAKE = "if held + 1 > tonumber(ARGV[4]) then return 0 end return take(ARGV[3])"


class PermitByPermit(Permits):
    """Permits are taken one by one, and kept where there are too few."""

    def acquire(self, name, ttl, permits, limit):
        self.all = []
        for _ in range(permits):
            if not self.take(self.TAKE, name, "p", ttl, 1, limit):
                return False
            self.all.append(self.token)
        return True

    def release(self, name):
        for token in self.all:
            self.redis("HDEL", name, token)
