#!/usr/bin/env python3
"""Kills lockproof at random times, and looks for what that leaves.

    testdata/kills/kills.py --bin FOLDER --adapter COMMAND --kills 300 [--seed 1]

FOLDER has lockproof, lockproof-campaign and lockproof-servers; COMMAND is an adapter, as `lockproof init` writes one. It
uses a virtual host of its own on the RabbitMQ of this machine, a schema's database of its own on its PostgreSQL, and a
redis-server and a mariadbd of its own; a server that is not there is left out, and said. All of it is gone at the end.

A command is started on a server and ended by one of five signals after a random time. What is looked for: processes (by
a mark in their environment), temporary folders and files, half files, and things on the servers; once when the command has
ended, and once more when the next run of its kind has. What is left then is a finding, and the exit code is 1. A run on
Redis lives by a key that expires in a minute: it is deleted before the next run, as if that minute had passed.
"""
import argparse, collections, json, os, random, re, shutil, signal, socket, subprocess, sys, tempfile, time, uuid

SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGKILL, signal.SIGQUIT, signal.SIGHUP]
ENDS_WITHIN = 60  # seconds that a run may take to end when it is asked to
HERE = os.path.dirname(os.path.abspath(__file__))
FOUND = os.path.join(HERE, "..", "counterexamples")


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=60).stdout.split()


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Servers:
    """Servers of our own: address says where, things what is on them."""

    def __init__(self, work):
        self.work, self.name, self.address, self.ends = work, "lockproof_kills_" + uuid.uuid4().hex[:8], {}, []
        for start in (self.rabbitmq, self.redis, self.postgres, self.mariadb):
            try:
                start()
            except Exception as e:
                print(f"left out: {start.__name__}: {e}")

    def rabbitmq(self):
        for what in (["add_vhost", self.name], ["set_permissions", "-p", self.name, "guest", ".*", ".*", ".*"]):
            subprocess.run(["rabbitmqctl", "-q"] + what, check=True, capture_output=True, timeout=60)
        self.ends.append(lambda: subprocess.run(["rabbitmqctl", "-q", "delete_vhost", self.name], capture_output=True))
        self.address["rabbitmq"] = f"amqp://guest:guest@127.0.0.1:5672/{self.name}"

    def redis(self):
        self.port = str(free_port())
        p = subprocess.Popen(["redis-server", "--port", self.port, "--bind", "127.0.0.1", "--save", "", "--dir", self.work],
                             stdout=subprocess.DEVNULL)
        self.ends.append(lambda: (p.kill(), p.wait()))
        self.address["redis"] = f"redis://127.0.0.1:{self.port}/0"

    def postgres(self):
        base = "postgres://postgres@127.0.0.1:5432/"
        subprocess.run(["psql", "-q", base + "postgres", "-c", f"CREATE DATABASE {self.name}"], check=True, capture_output=True)
        self.ends.append(lambda: subprocess.run(["psql", "-q", base + "postgres", "-c", f"DROP DATABASE {self.name} WITH (FORCE)"]))
        self.address["postgres"] = base + self.name

    def mariadb(self):
        data, port = os.path.join(self.work, "mariadb"), free_port()
        subprocess.run(["mariadb-install-db", "--no-defaults", "--user=root", "--datadir=" + data, "--auth-root-authentication-method=normal"],
                       check=True, capture_output=True)
        p = subprocess.Popen(["mariadbd", "--no-defaults", "--user=root", "--datadir=" + data, f"--port={port}", "--bind-address=127.0.0.1",
                              "--socket=" + os.path.join(self.work, "m.sock"), "--skip-grant-tables"],
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.ends.append(lambda: (p.kill(), p.wait()))
        self.address["mariadb"] = f"mysql://root@127.0.0.1:{port}/"
        for _ in range(300):
            if subprocess.run(["mariadb", "-S", os.path.join(self.work, "m.sock"), "-e", "SELECT 1"], capture_output=True).returncode == 0:
                return
            time.sleep(0.1)
        raise RuntimeError("it does not answer")

    def things(self, server):
        if server == "rabbitmq":
            v = f'<<"{self.name}">>'
            said = subprocess.run(["rabbitmqctl", "-q", "eval", f"io:format(\"~tp~n\", [[element(4, R) || R <- rabbit_amqqueue:list_names({v}) ++ rabbit_exchange:list_names({v})]])."],
                                  capture_output=True, text=True, timeout=60).stdout
            return [n for n in re.findall(r'<<"(.*?)">>', said) if n and not n.startswith("amq.")]
        if server == "redis":
            return output("redis-cli", "-p", self.port, "keys", "*")
        if server == "postgres":
            return output("psql", "-qtA", self.address["postgres"], "-c", "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'lockproof%'")
        if server == "mariadb":
            return output("mariadb", "-S", os.path.join(self.work, "m.sock"), "-N", "-e", "SHOW DATABASES LIKE 'lockproof%'")
        return []

    def minute(self, server):
        """A minute passes on Redis: what says that runs live expires."""
        if server == "redis":
            for key in output("redis-cli", "-p", self.port, "keys", "*run}"):
                output("redis-cli", "-p", self.port, "del", key)

    def end(self):
        for end in reversed(self.ends):
            end()


def commands(address, adapter, plan):
    """Each: its name, its server, its arguments, and those of a short run after it."""
    out = ["--out", "out"]
    both = lambda *flags: list(flags) + out + ["--html", "page.html", "--junit", "junit.xml"]
    yield "prove", None, both("prove", "locked-is-success", "--scenarios", "300000"), both("prove", "--scenarios", "20")
    yield "explore", None, both("explore", "--clients", "3", "--slots", "2"), both("explore", "--clients", "1", "--slots", "1")
    run = ["--exec", adapter, "--lock-type", "mutex"]
    yield "prove --exec", None, both("prove", *run, "--scenarios", "100000"), both("prove", *run, "--scenarios", "3")
    yield "explore --exec", None, both("explore", *run), both("prove", *run, "--scenarios", "3")
    yield "adapter-check", None, ["adapter-check", *run], ["adapter-check", *run]
    yield "check", None, ["check", "history.jsonl", "--html", "page.html"], ["check", "history.jsonl"]
    yield "mutants", None, ["mutants"], ["mutants", "locked-is-success"]
    yield "atlas", None, ["atlas", "--html", "page.html"], ["atlas", "--question", "1"]
    yield "campaign run", None, ["campaign", "run", plan] + out + ["--html", "page.html"], ["prove", "--scenarios", "20"] + out
    yield "serve", None, ["serve", "--listen", "127.0.0.1:0"], ["prove", "--scenarios", "20"] + out
    replay = lambda path: ["replay", os.path.join(FOUND, path)]
    yield "replay", None, replay("locked-is-success.mutual-exclusion.json"), replay("locked-is-success.mutual-exclusion.json")
    on = address.get("rabbitmq")
    if on:
        tidy = ["prove", "--on", on, "--rounds", "1"] + out
        yield "prove --on", "rabbitmq", both("prove", "--on", on, "--rounds", "1000000"), tidy
        yield "prove --exec --on", "rabbitmq", both("prove", *run, "--on", on, "--scenarios", "100000"), tidy
        yield "stress proxy", "rabbitmq", both("prove", *run, "--on", on, "--stress", "proxy", "--rounds", "1000000"), tidy
        yield "stress straight", "rabbitmq", both("prove", *run, "--on", on, "--stress", "straight", "--rounds", "1000000"), tidy
    for server, at in address.items():
        quick = ["compare", "--on", at, "--time", "20ms", "--clients", "1"]
        path = "locked-is-success.mutual-exclusion.json" if server == "rabbitmq" else os.path.join(server, sorted(os.listdir(os.path.join(FOUND, server)))[0])
        yield "replay --on", server, replay(path) + ["--on", at], quick
        yield "compare", server, ["compare", "--on", at, "--time", "1s", "--html", "page.html", "--markdown", "page.markdown"], quick
        yield "atlas --on", server, ["atlas", "--on", at, "--html", "page.html"], quick


def half(folder):
    """Files that are not whole, and temporary ones."""
    for base, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(base, name)
            if ".lockproof-" in name:
                yield "temporary " + name
                continue
            with open(path, errors="replace") as f:
                text = f.read()
            try:
                if name.endswith(".json"):
                    json.loads(text)
                whole = not name.endswith(".jsonl") or all(json.loads(x) is not None for x in text.splitlines())
            except ValueError:
                whole = False
            ends = {".html": "</html>", ".xml": ">"}.get(os.path.splitext(name)[1], "")
            if not whole or not text.rstrip().endswith(ends):
                yield "half " + name


def heard():
    """A program that is started in the background by a shell, or under nohup, ignores signals, and so do those that it starts."""
    for s in SIGNALS:
        if s != signal.SIGKILL:
            signal.signal(s, signal.SIG_DFL)


def processes(mark):
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as f:
                if mark.encode() in f.read():
                    with open(f"/proc/{pid}/cmdline") as c:
                        yield int(pid), c.read().replace("\0", " ")[:100]
        except OSError:
            pass


class Kills:
    def __init__(self, o):
        self.o, self.random, self.count = o, random.Random(o.seed), collections.Counter()
        self.findings, self.work = [], tempfile.mkdtemp(prefix="kills-")

    def start(self, args, mark, cwd):
        env = dict(os.environ, TMPDIR=self.path("tmp"), XDG_CONFIG_HOME=self.path("config"), KILLS=mark, GOTELEMETRY="off")
        return subprocess.Popen([os.path.join(self.o.bin, "lockproof")] + args, cwd=cwd, env=env, start_new_session=True, preexec_fn=heard,
                                stdin=subprocess.DEVNULL, stdout=open(self.path("said"), "w"), stderr=subprocess.STDOUT)

    def path(self, name):
        return os.path.join(self.work, name)

    def left(self, mark, server, cwd):
        """What is left, by kind. Guards end in their own time: they have some seconds."""
        for _ in range(60):
            running = list(processes(mark))
            if not running:
                break
            time.sleep(0.1)
        for pid, _ in running:
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
        folders = [os.path.join(b, n) for b, ns, _ in os.walk(self.path("tmp")) for n in ns if not n.startswith("lockproof-0")]
        folders += [n for _, _, names in os.walk(self.path("tmp")) for n in names if not n.startswith("go-")]
        accounts = [n for _, _, names in os.walk(os.path.join(self.path("config"), "lockproof", "rabbitmq")) for n in names]
        return {"processes": [c for _, c in running], "folders": folders, "files": list(half(cwd)), "accounts": accounts,
                "things": self.servers.things(server)}

    def once(self, number):
        name, server, args, after = self.random.choice(self.all)
        sig, pause = self.random.choice(SIGNALS), self.random.choice([0.01, 0.1, 0.5, 1, 2, 4]) * self.random.random()
        cwd, mark = self.path(f"run-{number}"), "kills-" + uuid.uuid4().hex
        os.mkdir(cwd)
        shutil.copy(self.history, os.path.join(cwd, "history.jsonl"))
        p = self.start(args, mark, cwd)
        time.sleep(pause)
        ended = p.poll() is not None
        p.send_signal(sig)
        try:
            p.wait(ENDS_WITHIN)
        except subprocess.TimeoutExpired:
            self.finding(number, name, server, sig, f"did not end within {ENDS_WITHIN} s")
            p.kill()
            p.wait()
        self.count["kills"] += 1
        self.count["had ended by itself" if ended else sig.name] += 1
        first = self.left(mark, server, cwd)
        for kind, what in first.items():
            if what:
                self.count[f"{sig.name}: {kind} left at once"] += 1
                if kind == "processes" or sig not in (signal.SIGKILL, signal.SIGQUIT) or kind == "files" and any(x.startswith("half") for x in what):
                    self.finding(number, name, server, sig, f"{kind} left at once: {what}")
        self.servers.minute(server)
        if any(first.values()):
            q = self.start(after, mark, cwd)
            try:
                q.wait(120)
            except subprocess.TimeoutExpired:
                self.finding(number, name, server, sig, f"the next run, {after}, does not end")
                q.kill()
                q.wait()
            for kind, what in self.left(mark, server, cwd).items():
                if what and (kind != "files" or "--html" in after):
                    self.finding(number, name, server, sig, f"{kind} left after the next run: {what}")
        shutil.rmtree(cwd)

    def finding(self, number, name, server, sig, what):
        self.findings.append(what)
        with open(self.path("said")) as f:
            said = f.read()[-300:]
        print(f"kill {number}: {name} on {server or 'the simulator'}, {sig.name}: {what}; it said {said!r}", flush=True)

    def run(self):
        for name in ("tmp", "config"):
            os.mkdir(self.path(name))
        self.servers = Servers(self.work)
        try:
            self.prepare()
            for number in range(self.o.kills):
                self.once(number)
        finally:
            self.servers.end()
            shutil.rmtree(self.work, ignore_errors=True)
        for what, n in sorted(self.count.items()):
            print(f"{n:6}  {what}")
        print(f"{len(self.findings):6}  findings")
        return 1 if self.findings else 0

    def prepare(self):
        """A history that takes long to judge, a plan of a campaign, and the commands."""
        self.history = self.o.history
        plan = os.path.join(HERE, "..", "campaigns", "options.json")
        self.all = [c for c in commands(self.servers.address, self.o.adapter, plan) if self.o.only in c[0]]


def main():
    for s in (signal.SIGTERM, signal.SIGINT):
        signal.signal(s, lambda *_: sys.exit(3))
    p = argparse.ArgumentParser()
    p.add_argument("--bin", required=True)
    p.add_argument("--adapter", required=True)
    p.add_argument("--history", required=True)
    p.add_argument("--kills", type=int, default=300)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--only", default="", help="kill only commands whose name contains this")
    sys.exit(Kills(p.parse_args()).run())


if __name__ == "__main__":
    main()
