"""A client of one grid."""

from __future__ import annotations

import concurrent.futures
import functools
import os
import queue
import re
import threading
import urllib.parse
from collections.abc import Iterable
from typing import Any, Optional, Union

from .data import Data
from .depot import Depot
from .errors import GridError, JobFailed
from .grid import Decision, Service, Site, service_in, site_in
from .ids import new_id
from .job import Job
from .options import Options
from .scope import Scope
from .values import Content, Output, content_of, value_out

LOCAL = "http://127.0.0.1:7410"
"""Where an agent listens that has no configuration."""

_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


def new_job_id() -> str:
    """Makes the ID of a job: a lower-case UUIDv7."""
    return new_id()


class Client(Depot):
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
        agents = [agents] if isinstance(agents, str) else list(agents)
        if not agents:
            raise GridError("bad-value", "none given", field="agents", accepted="at least one URL")
        for i, a in enumerate(agents):
            parts = urllib.parse.urlsplit(a)
            if parts.scheme != "http" or not parts.netloc:
                raise GridError("bad-value", repr(a), field=f"agents[{i}]", accepted="http://host:port")
        if min(patience, long_patience) < 0 or call_timeout < 0.01:
            raise GridError(
                "bad-value", "patience or call_timeout", accepted="0 or more seconds, call_timeout at least 0.01"
            )
        super().__init__(agents, patience, long_patience, call_timeout)
        self.owner = owner

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
        or bytes; for a vector or matrix lists, a ``Matrix``, whatever has the buffer
        protocol, or the path of a ``.npy`` file; for any of these ``Data``, which stay at
        a site. Nothing is executed twice: what was sent and not answered is repeated
        under the same ID at the same server, until it has answered. If it never does,
        the error is an ``UnknownOutcome``.
        """
        files: dict[str, Content] = {}
        values: dict[str, Any] = {}
        about = functools.cache(lambda: self._describe(service))
        for name, value in arguments.items():
            if isinstance(value, Output):
                if value.value is None:
                    continue
                value = value.value
            if isinstance(value, Data):
                values[name] = self._known(value).out()
                continue
            content = content_of(name, value, about)
            if content is not None:
                value = files[content.sha256] = content
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

    def _describe(self, service: str) -> Optional[Service]:
        """A service, None when nobody offers it: whoever is asked to map it says so."""
        if not re.fullmatch(r"\S+", service):
            return None
        found = self._pages("ListServices", "services", {"filter": "name=" + service})
        return service_in(found[0]) if found else None

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
