"""The adapter between lockproof and your lock: calls come one a line on standard input, answers go to standard output.

Replace the class Lock by your library. As it is, it is a mutex: a key that expires, with a token of its holder's. It takes
the package redis (apt-get install python3-redis, or pip install redis).
"""

import json
import sys
import uuid

import redis

IS_OURS = 'return redis.call("get", KEYS[1]) == ARGV[1] and 1 or 0'
DELETE_OURS = 'return redis.call("get", KEYS[1]) == ARGV[1] and redis.call("del", KEYS[1]) or 0'


class Lock:
    """One client: a connection, and the token of its last acquire."""

    def __init__(self, url):
        self.redis, self.token = redis.Redis.from_url(url), ""

    def acquire(self, name, ttl):
        """True if the lock is held now, for ttl milliseconds; False if somebody else has it."""
        self.token = str(uuid.uuid4())
        return bool(self.redis.set(name, self.token, nx=True, px=ttl))

    def verify(self, name):
        """True if the lock is still held."""
        return self.redis.eval(IS_OURS, 1, name, self.token) == 1

    def release(self, name):
        """Give the lock back, unless somebody else has it by now."""
        self.redis.eval(DELETE_OURS, 1, name, self.token)


class Adapter:
    """What lockproof calls. Operations that initialize does not list are never called."""

    METHODS = {"initialize", "acquire", "verify", "release"}

    def initialize(self, url, **_):
        self.lock = Lock(url)
        operations = ["acquire", "verify", "release"]
        return {"name": "my lock", "locks": ["mutex"], "operations": operations, "leases": True}

    def acquire(self, name, ttl):
        return {"held": True, "slot": 1} if self.lock.acquire(name, ttl) else {"held": False}

    def verify(self, name, slot):
        return {"held": self.lock.verify(name)}

    def release(self, name, slot):
        self.lock.release(name)
        return {}


def answer(adapter, call):
    """A result; or an error: -32000 is that nothing has happened, any other that it may have."""
    if call["method"] not in adapter.METHODS:
        return {"error": {"code": -32601, "message": f"no method {call['method']}"}}
    try:
        return {"result": getattr(adapter, call["method"])(**call["params"])}
    except redis.RedisError as trouble:
        return {"error": {"code": -32603, "message": repr(trouble)}}


if __name__ == "__main__":
    adapter = Adapter()
    for line in sys.stdin:  # its end means stop, releasing nothing
        call = json.loads(line)
        print(json.dumps({"jsonrpc": "2.0", "id": call["id"], **answer(adapter, call)}), flush=True)
