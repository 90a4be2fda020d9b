"""The adapter of the locks whose callers state how many may hold them.

Usage: limited_adapter.py LOCK, a class of limited_locks.py.
"""

import sys

import limited_locks
from adapter import serve
from forking import FORKS


class Adapter:
    METHODS = {"initialize", "acquire", "verify", "release"}

    def __init__(self, name):
        self.name = name

    def initialize(self, url, **_):
        self.lock = getattr(limited_locks, self.name)(url)
        return {
            "name": f"python example, {self.name}", "locks": ["semaphore"],
            "operations": ["acquire", "verify", "release"], "limits": True, **FORKS,
        }

    def acquire(self, name, limit):
        return {"held": True, "slot": 1} if self.lock.acquire_limited(name, limit) else {"held": False}

    def verify(self, name, slot):
        return {"held": self.lock.verify(name)}

    def release(self, name, slot):
        self.lock.release(name)
        return {}


if __name__ == "__main__":
    serve(Adapter(sys.argv[1]))
