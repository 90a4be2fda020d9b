"""The adapter between lockproof and your lock: calls come one a line on standard input, answers go to standard output.

Replace the class Lock by your library. As it is, it is a mutex: one exclusive queue. It takes pika (pip install pika).
"""

import json
import os
import signal
import socket as sockets
import sys

import pika
from pika.exceptions import AMQPError, ChannelClosedByBroker

RESOURCE_LOCKED = 405


class Lock:
    """One client: a connection, and what is held by it."""

    def __init__(self, url):
        parameters = pika.URLParameters(url)
        parameters.heartbeat = 0  # nobody answers them between two calls
        self.parameters, self.connection, self.held = parameters, None, False

    def channel(self):
        """An open channel. A new connection holds nothing of what an old one held."""
        if not (self.connection and self.connection.is_open):
            self.held = False
            self.connection = pika.BlockingConnection(self.parameters)
            self._channel = self.connection.channel()
        elif not self._channel.is_open:
            self._channel = self.connection.channel()
        return self._channel

    def acquire(self, name):
        """True if the lock is held now, False if somebody else has it."""
        try:
            self.channel().queue_declare(name, exclusive=True)
            self.held = True
        except ChannelClosedByBroker as closed:
            if closed.reply_code != RESOURCE_LOCKED:
                raise
            self.channel()
        except AMQPError:
            self.abandon()
            raise
        return self.held

    def abandon(self):
        """Close the connection after what was not answered: the broker frees what it may hold."""
        connection, self.connection, self.held = self.connection, None, False
        try:
            if connection:
                connection.close()
        except AMQPError:
            pass  # it is gone

    def verify(self, name):
        """True if the lock is still held."""
        if self.held:
            try:
                self.channel().queue_declare(name, passive=True)
            except AMQPError:
                self.abandon()
        return self.held

    def release(self, name):
        """Give the lock back."""
        if self.held:
            try:
                self.channel().queue_delete(name)
            except AMQPError:
                self.abandon()
            self.held = False


class Adapter:
    """What lockproof calls. Operations that initialize does not list are never called."""

    METHODS = {"initialize", "fork", "acquire", "verify", "release"}

    def initialize(self, url, **_):
        self.lock = Lock(url)
        operations = ["acquire", "verify", "release"]
        return {"name": "my lock", "locks": ["mutex"], "operations": operations, "forks": hasattr(os, "fork")}

    def fork(self, socket):
        return {}

    def acquire(self, name):
        return {"held": True, "slot": 1} if self.lock.acquire(name) else {"held": False}

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
    except AMQPError as trouble:
        return {"error": {"code": -32603, "message": repr(trouble)}}


def forked(socket):
    """Forks, which is faster than starting, and tells the new process from the old one. The new one is another client: its
    input, output and error are connections to a socket. Leave it out, with "forks", if your library has threads by now."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for it
    if os.fork():
        return False
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setpgid(0, 0)
    for numbers in (0, 1), (2,):
        with sockets.socket(sockets.AF_UNIX) as end:
            end.connect(socket)
            for number in numbers:
                os.dup2(end.fileno(), number)
    return True


if __name__ == "__main__":
    adapter = Adapter()
    for line in sys.stdin:  # its end means stop, releasing nothing
        call = json.loads(line)
        if call["method"] == "fork" and forked(**call["params"]):
            continue
        print(json.dumps({"jsonrpc": "2.0", "id": call["id"], **answer(adapter, call)}), flush=True)
