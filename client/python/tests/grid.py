"""A grid of real processes on loopback: the program that DROVER names."""

import contextlib
import http.client
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest

import drover

PROGRAM = os.environ.get("DROVER", "")

SERVICES = """
services:
  inline:
    - name: sleep
      doc: Does nothing for a while.
      args:
        - {name: seconds, type: float, min: 0, default: 1, doc: For so long.}
        - {name: processors, type: int, min: 1, default: 1}
      command: [sleep, "{seconds}"]
      walltime: {factor: 1, margin: 60s}
      model: {fixed: {width: processors, time: seconds + 0.05}}
    - name: copy
      doc: Copies a file.
      args: [{name: source, type: file}, {name: copy, type: file-out}]
      command: [cp, "{source}", "{copy}"]
      walltime: {factor: 1, margin: 60s}
      model: {fixed: {width: 1, time: "5"}}
    - name: arrays
      doc: What goes into c comes out as before, what is in a comes out of c.
      args:
        - {name: a, type: matrix}
        - {name: v, type: vector, element: int32}
        - {name: z, type: vector, element: complex128}
        - {name: c, type: matrix-inout, dims: [a.rows, a.cols]}
        - {name: notes, type: file-inout}
        - {name: copy, type: vector-out, element: int32, dims: [v.length]}
        - {name: same, type: vector-out, element: complex128, dims: [z.length]}
        - {name: before, type: matrix-out, dims: [a.rows, a.cols]}
      command: [sh, -c, 'cp "$3" "$6"; cat "$1" > "$3"; cp "$2" "$5"; cp "$8" "$9"; printf " %s changed" "$7" >> "$4"', arrays, "{a}", "{v}", "{c}", "{notes}", "{copy}", "{before}", "{a.rows}x{a.cols}", "{z}", "{same}"]
      walltime: {factor: 1, margin: 60s}
      model: {fixed: {width: 1, time: "5"}}
    - name: talk
      doc: Writes to both streams, and ends with a code.
      args:
        - {name: word, type: string}
        - {name: pause, type: float, default: 0}
        - {name: code, type: int, default: 0}
        - {name: loud, type: bool, default: false}
      command: [sh, -c, 'echo "$0" "$3"; sleep "$1"; echo again; echo oops >&2; exit "$2"', "{word}", "{pause}", "{code}", "{loud}"]
      walltime: {factor: 1, margin: 60s}
      model: {fixed: {width: 1, time: pause + 0.05}}
"""


def free_address():
    """An address that no outgoing connection takes while its server is down."""
    end = int(pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    while True:
        port = random.randrange(10_000, end)
        with contextlib.closing(socket.socket()) as tcp, contextlib.closing(socket.socket(type=socket.SOCK_DGRAM)) as udp:
            with contextlib.suppress(OSError):
                tcp.bind(("127.0.0.1", port))
                udp.bind(("127.0.0.1", port))
                return f"127.0.0.1:{port}"


class Grid:
    """An agent and the sites lyon (4 processors) and nancy (2)."""

    def __init__(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="drover-python-"))
        self.processes = {}
        try:
            self.begin()
        except BaseException:
            self.end()
            raise

    def begin(self):
        listen, self.seed = free_address(), free_address()
        self.agent = "http://" + listen
        self.config("agent", f"listen: {listen}\ngossip: {{bind: '{self.seed}'}}\nreallocation: {{period: off}}\n")
        self.start("agent")
        for name, processors in (("lyon", 4), ("nancy", 2)):
            self.config(
                name,
                f"listen: {free_address()}\ngossip: {{bind: '{free_address()}', seeds: ['{self.seed}']}}\n"
                f"data_dir: {self.dir / name}\nnodes: [{{count: 1, processors: {processors}}}]\n"
                f"policy: {{name: cbf}}\ngrace: 1s\non_stop: end\n{SERVICES}",
            )
            self.start(name)
        self.await_sites(2)

    def config(self, name, text):
        (self.dir / f"{name}.yaml").write_text(f"version: 1\nname: {name}\n{text}")

    def start(self, name):
        role = "agent" if name == "agent" else "server"
        with open(self.dir / f"{name}.log", "ab") as log:
            self.processes[name] = subprocess.Popen(
                [PROGRAM, role, "--config", self.dir / f"{name}.yaml"], stdout=log, stderr=log
            )

    def kill(self, name):
        self.processes[name].kill()
        self.processes[name].wait()

    def await_sites(self, n):
        """Waits until so many sites answer the agent."""
        for _ in range(600):
            with contextlib.suppress(OSError, http.client.HTTPException, ValueError):
                sites = post(self.agent, "AgentService/ListSites", b"{}")[1].get("sites", [])
                if sum("status" in s for s in sites) >= n:
                    return
            dead = [name for name, p in self.processes.items() if p.poll() is not None]
            if dead:
                break
            time.sleep(0.05)
        logs = "\n".join(log.read_text()[-2000:] for log in self.dir.glob("*.log"))
        raise AssertionError(f"the agent does not know {n} sites:\n{logs}")

    def end(self):
        for p in self.processes.values():
            if p.poll() is None:
                p.send_signal(signal.SIGTERM)
        for p in self.processes.values():
            try:
                p.wait(20)
            except subprocess.TimeoutExpired:
                p.kill()
        shutil.rmtree(self.dir, ignore_errors=True)


def post(base, path, body, content_type="application/json"):
    """Makes a call as any HTTP client would; returns the status and the answer."""
    c = http.client.HTTPConnection(base.split("//")[1], timeout=10)
    try:
        c.request("POST", "/drover.v1." + path, body, {"Content-Type": content_type})
        res = c.getresponse()
        return res.status, json.loads(res.read())
    finally:
        c.close()


@unittest.skipUnless(PROGRAM, "DROVER does not name the drover program: run `make test`, or DROVER=bin/drover")
class GridTest(unittest.TestCase):
    """Tests on a grid that those of a module share: it has up as its setUpModule."""

    grid = None

    @staticmethod
    def up():
        if PROGRAM:
            GridTest.grid = Grid()
            unittest.addModuleCleanup(GridTest.grid.end)


class ClientTest(GridTest):
    def setUp(self):
        self.client = drover.Client([self.grid.agent])
        self.addCleanup(self.client.close)

    def scratch(self):
        d = tempfile.TemporaryDirectory()
        self.addCleanup(d.cleanup)
        return pathlib.Path(d.name)

    def server(self, name):
        return next(s.address for s in self.client.sites() if s.name == name)
