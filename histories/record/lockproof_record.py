"""Writes what a program's clients of mutexes do as a history that `lockproof check` judges.

    recorder = Recorder(open("host-a.jsonl", "w"), ["jobs"])
    client = recorder.client(session="connection 7")
    with client.call("acquire", "jobs") as call:
        call.ok(token=lock.acquire())
    with client.call("release", "jobs") as call:
        lock.release()
        call.ok()

A call without ok() or fail() has an unknown outcome. Each run of a program needs a file of its own.
"""
import contextlib
import json
import os
import socket
import threading
import time


class Recorder:
    """Writes a history, each event before the next begins."""

    def __init__(self, out, mutexes):
        self._out, self._lock, self._clients = out, threading.Lock(), 0
        self._host, self._begun = socket.gethostname(), time.monotonic_ns()
        self._line({"lockproof": "history", "version": 1, "kind": "mutex", "locks": [{"name": name} for name in mutexes]})

    def client(self, session=""):
        """A new client, whose calls follow each other; its session is for people."""
        with self._lock:
            self._clients += 1
            return Client(self, self._clients, session)

    def _line(self, fields):
        self._out.write(json.dumps(fields) + "\n")
        self._out.flush()

    def _event(self, fields):
        with self._lock:
            self._line({**fields, "time": time.time_ns(), "mono": time.monotonic_ns() - self._begun,
                        "host": self._host, "pid": os.getpid()})


class Client:
    """A client of mutexes."""

    def __init__(self, recorder, number, session):
        self._recorder, self._number, self._session = recorder, number, session

    @contextlib.contextmanager
    def call(self, operation, mutex):
        """Records a call of acquire, verify or release, and the answer that its block tells."""
        fields = {"process": self._number, "f": operation, "lock": mutex, "session": self._session}
        self._recorder._event({"type": "invoke", **fields})
        call = Call(operation)
        try:
            yield call
        finally:
            self._recorder._event({**call.answer, **fields})


class Call:
    """A call under way."""

    def __init__(self, operation):
        self._operation, self.answer = operation, {"type": "info"}

    def ok(self, held=True, token=None):
        """It happened; held is the answer of a verify, and token a grant's fencing token."""
        self.answer = {"type": "ok"}
        if self._operation != "release":
            self.answer["value"] = {"held": held, **({"token": token} if token else {})}

    def fail(self):
        """It certainly did not happen."""
        self.answer = {"type": "fail"}
