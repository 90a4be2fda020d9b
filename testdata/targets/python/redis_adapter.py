"""The adapter of the mutexes on Redis.

Usage: redis_adapter.py [MUTEX], a class of redis_mutexes.py.
"""

import json
import sys

import redis_mutexes

NO_SUCH_METHOD = -32601
UNKNOWN = -32603  # it may have happened


class Adapter:
    METHODS = {"initialize", "acquire", "verify", "release"}

    def __init__(self, name="Lease"):
        self.name = name

    def initialize(self, url, **_):
        self.mutex = vars(redis_mutexes)[self.name](url)
        return {"name": f"python on Redis, {self.name}", "locks": ["mutex"], "operations": ["acquire", "verify", "release"], "leases": True}

    def acquire(self, name, ttl):
        return {"held": True, "slot": 1} if self.mutex.acquire(name, ttl) else {"held": False}

    def verify(self, name, slot):
        return {"held": self.mutex.verify(name)}

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
        print(json.dumps({"jsonrpc": "2.0", "id": call["id"], **answer(adapter, call["method"], call["params"])}), flush=True)
