"""Calls of lockproof, one a line on standard input, become calls of one of the libraries, the one that the command line names.

A library is made of the servers' addresses. Its acquire gives how the lock is released, and None where the lock is not to be had. Of a
library that verifies or extends, it gives how that is done as well.
"""

import json
import sys

NO_SUCH_METHOD = -32601
UNKNOWN = -32603  # it may have happened


class Client:
    METHODS = {"initialize", "acquire", "verify", "extend", "release"}

    def __init__(self, libraries, name):
        self.library, self.leases, *self.asks = libraries[name]
        self.name = name
        self.held = {}

    def initialize(self, url, urls=None, **_):
        self.lock = self.library(*(urls or [url]))
        return {"name": self.name, "locks": ["mutex"], "operations": ["acquire", "release", *self.asks], "leases": self.leases}

    def acquire(self, name, ttl=60000, **_):
        release = self.lock(name, ttl)
        if release is None:
            return {"held": False}
        self.held[name] = release
        return {"held": True, "slot": 1}

    def verify(self, name, **_):
        return {"held": name in self.held and bool(self.held[name][1]())}

    def extend(self, name, ttl, **_):
        return {"held": name in self.held and bool(self.held[name][1](ttl))}

    def release(self, name, **_):
        if release := self.held.pop(name, None):
            (release[0] if self.asks else release)()
        return {}


def answer(client, method, params):
    if method not in client.METHODS:
        return {"error": {"code": NO_SUCH_METHOD, "message": f"no method {method}"}}
    try:
        return {"result": getattr(client, method)(**params)}
    except Exception as error:
        return {"error": {"code": UNKNOWN, "message": repr(error)}}


def serve(libraries):
    """Answers until the end of input. libraries has, by name, a library, whether its locks have leases, and "verify" or "extend"."""
    client = Client(libraries, sys.argv[1])
    for line in sys.stdin:
        call = json.loads(line)
        print(json.dumps({"jsonrpc": "2.0", "id": call["id"], **answer(client, call["method"], call["params"])}), flush=True)
    sys.stdout.flush()
    import os

    os._exit(0)  # the end of input means stop, releasing nothing
