"""The adapter of the mutexes.

Usage: mutex_adapter.py MUTEX, a class of mutexes.py or wrong_mutexes.py.
"""

import sys

import mutexes
import wrong_mutexes
from adapter import serve


class Adapter:
    METHODS = {"initialize", "acquire", "verify", "release"}

    def __init__(self, name):
        self.name, self.Mutex = name, getattr(mutexes, name, None) or getattr(wrong_mutexes, name)

    def initialize(self, url, **_):
        self.mutex = self.Mutex(url)
        return {"name": f"python example, {self.name}", "locks": ["mutex"], "operations": ["acquire", "verify", "release"]}

    def acquire(self, name):
        return {"held": True, "slot": 1} if self.mutex.acquire(name) else {"held": False}

    def verify(self, name, slot):
        return {"held": self.mutex.verify(name)}

    def release(self, name, slot):
        self.mutex.release(name)
        return {}


if __name__ == "__main__":
    serve(Adapter(sys.argv[1]))
