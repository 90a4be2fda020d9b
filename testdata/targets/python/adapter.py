"""The adapter: calls of lockproof, one a line on standard input, become calls of the library.

Usage: adapter.py [BUG], with a bug of wrong.py.
"""

import json
import sys

from pika.exceptions import AMQPError

from amqp_locks import Busy, Semaphore, Session
from forking import FORKS, forked
from wrong import WRONG

FAILED = -32000  # this certainly had no effect
UNKNOWN = -32603  # it may have happened
NO_SUCH_METHOD = -32601


class Adapter:
    def __init__(self, bug):
        self.name = f"python example, {bug}" if bug else "python example"
        self.Session, self.Semaphore = WRONG[bug] if bug else (Session, Semaphore)

    def initialize(self, url, **_):
        self.session = self.Session(url)
        operations = ["acquire", "verify", "release", "create", "add", "remove", "destroy", "count", "wait"]
        return {"name": self.name, "locks": ["semaphore"], "operations": operations, **FORKS}

    def semaphore(self, name):
        return self.Semaphore(self.session, name)

    def acquire(self, name):
        slot = self.semaphore(name).acquire()
        return {"held": True, "slot": slot} if slot else {"held": False}

    def verify(self, name, slot):
        return {"held": self.semaphore(name).verify(slot)}

    def release(self, name, slot):
        self.semaphore(name).release(slot)
        return {}

    def create(self, name, slots):
        self.semaphore(name).create(slots)
        return {}

    def add(self, name, slots):
        self.semaphore(name).add(slots)
        return {}

    def remove(self, name, slots):
        self.semaphore(name).remove(slots)
        return {}

    def destroy(self, name):
        self.semaphore(name).destroy()
        return {}

    def count(self, name):
        return {"slots": self.semaphore(name).count()}

    def wait(self, name, slot):
        self.semaphore(name).wait(slot)
        return {}


Adapter.METHODS = {name for name in vars(Adapter) if not name.startswith("_") and name != "semaphore"}


def answer(adapter, call):
    """What becomes of a call: a result, or an error that says whether it may have happened."""
    if call["method"] == "fork":
        return {"result": {}}
    if call["method"] not in adapter.METHODS:
        return {"error": {"code": NO_SUCH_METHOD, "message": f"no method {call['method']}"}}
    try:
        return {"result": getattr(adapter, call["method"])(**call["params"])}
    except Busy as busy:
        return {"error": {"code": FAILED, "message": str(busy)}}
    except AMQPError as trouble:
        return {"error": {"code": UNKNOWN, "message": repr(trouble)}}


def serve(adapter):
    for line in sys.stdin:  # its end means stop, releasing nothing
        call = json.loads(line)
        if call["method"] == "fork" and forked(**call["params"]):
            continue
        print(json.dumps({"jsonrpc": "2.0", "id": call["id"], **answer(adapter, call)}), flush=True)


if __name__ == "__main__":
    serve(Adapter(sys.argv[1] if len(sys.argv) > 1 else None))
