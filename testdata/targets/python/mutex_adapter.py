"""The adapter of the mutexes.

Usage: mutex_adapter.py MUTEX, a class of mutexes.py, unusual_mutexes.py, fenced_mutexes.py or wrong_mutexes.py.
"""

import sys

import fenced_mutexes
import mutexes
import unusual_mutexes
import wrong_mutexes
from adapter import serve
from forking import FORKS


class Adapter:
    METHODS = {"initialize", "acquire", "verify", "release"}

    def __init__(self, name):
        self.name = name
        modules = (mutexes, unusual_mutexes, fenced_mutexes, wrong_mutexes)
        self.Mutex = next(vars(m)[name] for m in modules if name in vars(m))
        self.fenced = self.Mutex.__module__ == fenced_mutexes.__name__

    def initialize(self, url, **_):
        self.mutex = self.Mutex(url)
        about = {"name": f"python example, {self.name}", "locks": ["mutex"], "operations": ["acquire", "verify", "release"]}
        return {**about, "timeouts": hasattr(self.mutex, "acquire_within"), "tokens": self.fenced, **FORKS}

    def acquire(self, name, timeout=0):
        held = self.mutex.acquire_within(name, timeout / 1000) if timeout else self.mutex.acquire(name)
        if not held:
            return {"held": False}
        return {"held": True, "slot": 1, "token": self.mutex.token} if self.fenced else {"held": True, "slot": 1}

    def verify(self, name, slot):
        return {"held": self.mutex.verify(name)}

    def release(self, name, slot):
        self.mutex.release(name)
        return {}


if __name__ == "__main__":
    serve(Adapter(sys.argv[1]))
