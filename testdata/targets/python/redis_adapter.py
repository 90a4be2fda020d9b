"""The adapter of the locks on Redis.

Usage: redis_adapter.py [LOCK], a class of redis_mutexes.py or redis_shares.py. One that has a method extend is asked to extend its leases, and one that
takes lost tells by that of locks that it has lost.
"""

import json
import sys
import threading

import redis_mutexes
import redis_shares

NO_SUCH_METHOD = -32601
UNKNOWN = -32603  # it may have happened


speaking = threading.Lock()


def say(what):
    with speaking:
        print(json.dumps({"jsonrpc": "2.0", **what}), flush=True)


class Adapter:
    METHODS = {"initialize", "acquire", "verify", "extend", "release"}

    def __init__(self, name="Lease"):
        self.name = name

    def initialize(self, url, **_):
        self.mutex = {**vars(redis_mutexes), **vars(redis_shares)}[self.name](url)
        operations = [o for o in ("acquire", "verify", "extend", "release") if hasattr(self.mutex, o)]
        about = {"name": f"python on Redis, {self.name}", "locks": ["mutex"], "operations": operations, "leases": True}
        if isinstance(self.mutex, redis_shares.ReadsAndWrites):
            about["modes"] = True
        if isinstance(self.mutex, redis_shares.Permits):
            about |= {"locks": ["semaphore"], "limits": True, "permits": True}
        if hasattr(self.mutex, "lost"):
            self.mutex.lost = lambda name: say({"method": "lost", "params": {"name": name}})
            about["losses"] = True
        return about

    def acquire(self, name, ttl, **shares):
        return {"held": True, "slot": 1} if self.mutex.acquire(name, ttl, **shares) else {"held": False}

    def verify(self, name, slot):
        return {"held": self.mutex.verify(name)}

    def extend(self, name, slot, ttl):
        return {"held": self.mutex.extend(name, ttl)}

    def release(self, name, slot):
        self.mutex.release(name)
        return {}


def answer(adapter, method, params):
    if method not in adapter.METHODS:
        return {"error": {"code": NO_SUCH_METHOD, "message": f"no method {method}"}}
    try:
        return {"result": getattr(adapter, method)(**params)}
    except Exception as error:
        return {"error": {"code": UNKNOWN, "message": repr(error)}}


if __name__ == "__main__":
    adapter = Adapter(*sys.argv[1:])
    for line in sys.stdin:
        call = json.loads(line)
        say({"id": call["id"], **answer(adapter, call["method"], call["params"])})
