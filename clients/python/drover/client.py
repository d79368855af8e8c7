"""A client of one grid."""

from __future__ import annotations

import base64
import concurrent.futures
import os
import queue
import re
import secrets
import threading
import time
import urllib.parse
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Optional, TypeVar, Union

from . import rpc
from .errors import DroverError, GridError, JobFailed, Kind
from .grid import Decision, Service, Site, service_in, site_in
from .job import Job, Moved
from .options import Options
from .rpc import Wire
from .scope import Scope
from .session import Action, Inquiry, Pursuit, Submission, Target, Verb
from .values import Content, Output, value_out

LOCAL = "http://127.0.0.1:7410"
"""Where an agent listens that has no configuration."""

T = TypeVar("T")

_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


def new_job_id() -> str:
    """Makes the ID of a job: a lower-case UUIDv7."""
    n = time.time_ns() // 1_000_000 << 80 | 7 << 76 | secrets.randbits(12) << 64 | 2 << 62 | secrets.randbits(62)
    h = f"{n:032x}"
    return "-".join((h[:8], h[8:12], h[12:16], h[16:20], h[20:]))


class Client:
    """Talks to one grid, for any number of threads.

    ``agents`` are URLs, the preferred one first; without them ``DROVER_AGENTS`` (URLs
    separated by commas), else the local default. ``patience`` is how long failures in
    a row are answered by trying again, in seconds; ``long_patience`` is that of what
    takes long by nature (wait, logs, downloads), during which a site may be started
    anew. ``call_timeout`` bounds one call that is answered at once.
    """

    def __init__(
        self,
        agents: Optional[Iterable[str]] = None,
        *,
        patience: float = 10.0,
        long_patience: float = 300.0,
        call_timeout: float = 5.0,
        owner: str = "",
    ) -> None:
        if agents is None:
            given = os.environ.get("DROVER_AGENTS", "")
            agents = given.split(",") if given else [LOCAL]
        self.agents = [agents] if isinstance(agents, str) else list(agents)
        if not self.agents:
            raise GridError("bad-value", "none given", field="agents", accepted="at least one URL")
        for i, a in enumerate(self.agents):
            parts = urllib.parse.urlsplit(a)
            if parts.scheme != "http" or not parts.netloc:
                raise GridError("bad-value", repr(a), field=f"agents[{i}]", accepted="http://host:port")
        if min(patience, long_patience) < 0 or call_timeout < 0.01:
            raise GridError(
                "bad-value", "patience or call_timeout", accepted="0 or more seconds, call_timeout at least 0.01"
            )
        self.patience, self.long_patience, self.owner = patience, long_patience, owner
        # Nobody wants one call to last longer than all of them.
        self.call_timeout = min(call_timeout, max(patience, 0.01)) if patience > 0 else call_timeout
        self._wire = Wire(self.call_timeout)
        self._first = 0  # the agent that answered last

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes idle connections (``grpc_finalize``). Jobs go on."""
        self._wire.close()

    def submit(self, service: str, options: Options = Options(), /, **arguments: Any) -> Job:
        """Has a service executed, and returns as soon as a server has accepted the
        job (``grpc_call_async``). Files among the arguments reach that server before.

        Arguments are bool, int, float and str; for a file to send a ``pathlib.Path``
        or bytes. Nothing is executed twice: what was sent and not answered is repeated
        under the same ID at the same server, until it has answered. If it never does,
        the error is an ``UnknownOutcome``.
        """
        files: dict[str, Content] = {}
        values: dict[str, Any] = {}
        for name, value in arguments.items():
            if isinstance(value, Output):
                continue
            if isinstance(value, (bytes, os.PathLike)):
                value = Content(value, name)
                files[value.sha256] = value
            values[name] = value_out(name, value)
        request = {"service": service, "arguments": values, **options.out()}
        owner = self.owner if options.owner is None else options.owner
        if owner:
            request["owner"] = owner
        return self._submit(new_job_id(), request, list(files.values()))

    def call(self, service: str, options: Options = Options(), /, **arguments: Any) -> Job:
        """Submits, waits for the end, and puts files in place for the arguments that
        are an ``Output`` (``grpc_call``). A job that does not end well is a
        ``JobFailed``."""
        job = self.submit(service, options, **arguments).wait()
        if job.state != "done":
            raise JobFailed(job)
        for name, value in arguments.items():
            if isinstance(value, Output):
                job.download(name, value.path)
        return job

    def call_async(
        self, service: str, options: Options = Options(), /, **arguments: Any
    ) -> concurrent.futures.Future[Job]:
        """``call`` in a thread of its own. To cancel the job, use ``submit``."""
        future: concurrent.futures.Future[Job] = concurrent.futures.Future()

        def work() -> None:
            try:
                future.set_result(self.call(service, options, **arguments))
            except BaseException as e:
                future.set_exception(e)

        future.set_running_or_notify_cancel()
        threading.Thread(target=work, name=f"drover {service}", daemon=True).start()
        return future

    def job(self, id: str) -> Job:
        """The job of an ID, as it is now. When its site does not answer it is what an
        agent last heard, and ``unknown_for`` says how long ago."""
        if not _ID.fullmatch(id):
            raise GridError("bad-value", repr(id), field="job_id", accepted="the ID of a job, as submit returns it")
        return Job(self, id).refresh()

    def jobs(self, filter: str = "state=active") -> list[Job]:
        """The jobs of all sites; ``filter`` is terms key=value, of the keys state,
        service, owner and site, separated by spaces."""
        raw = self._pages("ListJobs", "jobs", {"filter": filter})
        return [Job(self, j["id"], j) for j in raw]

    def sites(self) -> list[Site]:
        """The sites of the grid with their queues, by name."""
        return [site_in(s) for s in self._pages("ListSites", "sites", {})]

    def services(self) -> list[Service]:
        """What the grid can run, by name."""
        return [service_in(s) for s in self._pages("ListServices", "services", {})]

    def why(self, job: Union[Job, str]) -> Optional[Decision]:
        """Why a job is where it is, with all candidates; None when nobody had to
        choose."""
        return (self.job(job) if isinstance(job, str) else job.refresh()).decision

    def wait_all(self, jobs: Iterable[Job], timeout: Optional[float] = None) -> list[Job]:
        """Waits until all have ended (``grpc_wait_and``)."""
        scope, all = Scope(timeout), list(jobs)
        for job in all:
            job._wait(scope)
        return all

    def wait_any(self, jobs: Iterable[Job], timeout: Optional[float] = None) -> Job:
        """Waits until one has ended, and returns it (``grpc_wait_or``). One of which
        nobody knows any more matters only when there is no other."""
        all = list(jobs)
        if not all:
            raise ValueError("no jobs to wait for")
        for job in all:
            if job.ended:
                return job
        scope, ends = Scope(timeout), queue.Queue()  # type: tuple[Scope, queue.Queue[Any]]

        def watch(job: Job) -> None:
            try:
                job._wait(scope)
                ends.put((job, None))
            except Exception as e:
                ends.put((job, e))

        threads = [threading.Thread(target=watch, args=(job,), daemon=True) for job in all]
        try:
            for t in threads:
                t.start()
            for left in range(len(all) - 1, -1, -1):
                job, error = ends.get()
                if error is None:
                    return job
                if left == 0 or isinstance(error, TimeoutError):
                    raise error
            raise AssertionError("nobody has ended")
        finally:
            scope.stop()
            for t in threads:
                if t.ident is not None:
                    t.join()

    # Drivers of the state machines in drover.session.

    def _submit(self, id: str, request: dict[str, Any], files: list[Content]) -> Job:
        agents, scope, mapped = self._roster(), Scope(), {}
        s = Submission(len(agents), self.patience, id)
        a = s.start(time.monotonic())
        job = Job(self, id)
        while True:
            try:
                if a.do is Verb.MAP:
                    within = {"deadline": f"{self.call_timeout * 0.8:.3f}s"}
                    message = {"request": request, "jobId": id, **within}
                    mapped = self._ask(agents[a.agent], "Map", message)
                    targets = [Target(t["site"], t["address"]) for t in mapped.get("targets", ())]
                    self._answered(agents[a.agent])
                    a = s.mapped(time.monotonic(), targets)
                elif a.do is Verb.SUBMIT:
                    job.raw = self._submit_at(a.target, id, request, files, mapped, scope)
                    a = s.accepted(time.monotonic())
                elif a.do is Verb.WITHDRAW:
                    answer = self._tell(a.target, "Withdraw", {"jobId": id}, scope)
                    if answer.get("withdrawn"):
                        a = s.withdrawn(time.monotonic())
                    else:
                        job.raw = answer["job"]
                        a = s.accepted(time.monotonic())
                elif a.do is Verb.PAUSE:
                    scope.pause(a.until - time.monotonic())
                    a = s.awake(time.monotonic())
                elif a.do is Verb.DONE:
                    job._at, job._epoch = a.target, job.raw.get("epoch", 0)
                    return job
                else:
                    raise _the_error(a)
            except GridError as e:
                if a.do in (Verb.DONE, Verb.FAIL):
                    raise
                withdrawn = a.do is Verb.SUBMIT and e.reason == "withdrawn"
                a = s.withdrawn(time.monotonic()) if withdrawn else s.failed(time.monotonic(), e)
            except DroverError as e:
                if a.do in (Verb.DONE, Verb.FAIL):
                    raise
                a = s.abandon(time.monotonic(), e)  # a file that cannot be read

    def _submit_at(
        self, at: Optional[Target], id: str, request: dict[str, Any], files: list[Content], mapped: dict[str, Any], scope: Scope
    ) -> dict[str, Any]:
        assert at is not None
        for f in files:
            try:
                self._bring(at.address, f, scope)
            except GridError as e:  # nothing is submitted yet: another site may have it
                e.kind = Kind.UNFIT if e.kind is Kind.REFUSED else Kind.UNSENT
                raise
        message = {"jobId": id, "request": request}
        if "decision" in mapped:
            message["decision"] = mapped["decision"]
        return self._tell(at, "Submit", message, scope)["job"]

    def _output(self, url: str, id: str, argument: str, offset: int) -> Iterator[bytes]:
        """A file that a job has written, from an offset on."""
        try:
            path = f"/v1/jobs/{id}/outputs/{urllib.parse.quote(argument, safe='')}"
            yield from self._wire.fetch(url, path, offset, Scope())
        except rpc.NoPlain:
            message = {"jobId": id, "argument": argument, "offset": str(offset)}
            for piece in self._wire.stream(url, rpc.SERVER, "Download", message, Scope()):
                yield base64.b64decode(piece.get("data", ""))

    def _bring(self, url: str, f: Content, scope: Scope) -> None:
        """Has content reach a server: what is there is not sent, and a connection that
        breaks is gone on after, as long as each try brings it further."""
        most, since = -1, time.monotonic()
        broken: Optional[GridError] = None
        while True:
            known = self._wire.arrived(url, f.sha256, f.size, scope, self.call_timeout)
            if known is None:
                self._wire.upload(url, rpc.SERVER, "Upload", _pieces(f), scope)
                return
            complete, have = known
            if complete:
                return
            if broken is not None and have <= most and not (
                broken.reason == "arriving" and time.monotonic() - since < self.patience
            ):
                raise broken
            most, offset = have, min(have, max(f.size - 1, 0))
            try:
                self._wire.send(url, f.sha256, f.size, offset, f.pieces(offset), scope)
                return
            except GridError as e:
                if e.field == "sha256" and offset and broken is None:
                    most = -1  # what was there before was not its beginning, and is gone
                elif e.kind is not Kind.SILENT and e.reason != "arriving":
                    raise
                broken = e
                scope.pause(0.2)

    def _pursue(
        self,
        job: Job,
        visit: Callable[[str, Callable[[int], None]], Iterator[bytes]],
        patience: float,
        scope: Scope,
        found: Callable[[dict[str, Any]], None] = lambda raw: None,
    ) -> Iterator[bytes]:
        """Brings a visit to the server that has a job, and gives what it gives."""
        agents = self._roster()
        p = Pursuit(len(agents), patience, job.id, job._at, job._epoch)
        a = p.start(time.monotonic())
        while a.do is not Verb.DONE:
            if a.do is Verb.FAIL:
                raise _the_error(a)
            scope.check()
            try:
                if a.do is Verb.FIND:
                    answer = self._ask(agents[a.agent], "FindJob", {"jobId": job.id}, scope)
                    self._answered(agents[a.agent])
                    found(answer["job"])
                    at = Target(answer["target"]["site"], answer["target"]["address"])
                    a = p.found(time.monotonic(), at, answer["job"].get("epoch", 0))
                elif a.do is Verb.VISIT:
                    assert a.target is not None
                    job._at = a.target
                    yield from visit(a.target.address, p.heard)
                    a = p.finished(time.monotonic())
                else:
                    scope.pause(a.until - time.monotonic())
                    a = p.awake(time.monotonic())
            except Moved as m:
                a = p.moved(time.monotonic(), m.epoch)
            except GridError as e:
                a = p.failed(time.monotonic(), e)

    def _inquire(self, question: Callable[[str], T]) -> T:
        """Asks the agents in turn until one answers, each once."""
        agents = self._roster()
        q = Inquiry(len(agents), 0)
        a = q.start(time.monotonic())
        while a.do is Verb.ASK:
            try:
                answer = question(agents[a.agent])
                self._answered(agents[a.agent])
                return answer
            except GridError as e:
                a = q.failed(time.monotonic(), e)
        raise _the_error(a)

    def _pages(self, method: str, key: str, message: dict[str, Any]) -> list[dict[str, Any]]:
        """All pages of a list from one agent: agents need not agree on where they end."""

        def all(agent: str) -> list[dict[str, Any]]:
            items: list[dict[str, Any]] = []
            token = ""
            while True:
                answer = self._ask(agent, method, {**message, "pageToken": token})
                items += answer.get(key, ())
                token = answer.get("nextPageToken", "")
                if not token:
                    return items

        return self._inquire(all)

    def _ask(self, agent: str, method: str, message: dict[str, Any], scope: Optional[Scope] = None) -> dict[str, Any]:
        return self._wire.call(agent, rpc.AGENT, method, message, scope or Scope(), self.call_timeout)

    def _tell(self, at: Optional[Target], method: str, message: dict[str, Any], scope: Scope) -> dict[str, Any]:
        assert at is not None
        return self._wire.call(at.address, rpc.SERVER, method, message, scope, self.call_timeout)

    def _roster(self) -> list[str]:
        """The agents in the order in which to ask: first the one that answered last."""
        i = self._first
        return self.agents[i:] + self.agents[:i]

    def _answered(self, agent: str) -> None:
        self._first = self.agents.index(agent)


def _pieces(f: Content) -> Iterator[dict[str, Any]]:
    """The messages of an upload."""
    about: dict[str, Any] = {"sha256": f.sha256, "sizeBytes": str(f.size)}
    for piece in f.pieces():
        yield {**about, "data": base64.b64encode(piece).decode()}
        about = {}


def _the_error(a: Action) -> BaseException:
    assert a.error is not None
    return a.error
