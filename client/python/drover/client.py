"""A client of one grid."""

from __future__ import annotations

import concurrent.futures
import functools
import os
import queue
import re
import threading
from collections.abc import Iterable
from typing import Any, Optional, Union

from . import check
from .data import Data
from .depot import Depot
from .errors import ClosedError, GridError, JobFailed
from .files import check_place
from .grid import Decision, Service, Site, service_in, site_in
from .ids import job_id_of, new_id
from .job import Job
from .options import Options
from .scope import Scope
from .values import Content, Output, content_of, value_out

LOCAL = "http://127.0.0.1:7410"
"""The URL of an agent without a configuration."""


def new_job_id() -> str:
    """Makes the ID of a job: a lower-case UUIDv7."""
    return new_id()


class Client(Depot):
    """Talks to one grid, for any number of threads.

    ``agents`` are URLs, the preferred one first; without them ``DROVER_AGENTS`` (URLs
    separated by commas), else the local default. ``patience`` is how long
    consecutive failures are retried, in seconds; ``long_patience`` is the patience of
    long operations (wait, logs, downloads), during which a site can be restarted.
    ``call_timeout`` bounds a call that is answered at once.
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
        super().__init__(
            check.agents(agents), check.patience("patience", patience), check.patience("long_patience", long_patience),
            check.patience("call_timeout", call_timeout, 0.01),
        )
        self.owner = check.text("owner", owner)

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes idle connections (``grpc_finalize``). Jobs continue; later calls of
        the client raise ``ClosedError``."""
        self._wire.close()

    def submit(self, service: str, options: Options = Options(), /, **arguments: Any) -> Job:
        """Submits a request, and returns when a server has accepted the
        job (``grpc_call_async``). Files among the arguments reach that server before.

        Arguments are bool, int, float and str; for a file to send a ``pathlib.Path``
        or bytes; for a vector or matrix lists, a ``Matrix``, whatever has the buffer
        protocol, or the path of a ``.npy`` file; for any of these ``Data``, which stay at
        a site. Nothing is executed twice: what was sent and not answered is repeated
        under the same ID at the same server, until it has answered. If it never does,
        the error is an ``UnknownOutcome``.
        """
        self._check(service, options)
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
        ``JobFailed``. It checks before submitting that the files can be written."""
        for name, value in arguments.items():
            if isinstance(value, Output):
                check_place("request.arguments." + name, name, value.path)
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
        """``call`` in a thread. To cancel the job, use ``submit``."""
        self._check(service, options)
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
        """The job with an ID, as it is now. If its site does not answer, it is the job as
        an agent last knew it, with ``unknown_for`` set."""
        return Job(self, job_id_of("job_id", id)).refresh()

    def jobs(self, filter: str = "state=active") -> list[Job]:
        """The jobs of all sites; ``filter`` has terms key=value, separated by
        spaces, with the keys state, service, owner and site."""
        raw = self._pages("ListJobs", "jobs", {"filter": check.text("filter", filter)})
        return [Job(self, j["id"], j) for j in raw]

    def _check(self, service: Any, options: Any) -> None:
        """Refuses invalid requests, and any request of a closed client."""
        if self._wire.closed:
            raise ClosedError
        check.text("service", service, "the name of a service")
        if not isinstance(options, Options):
            raise check.wrong("options", options, "drover.Options, before the arguments by name")

    def _describe(self, service: str) -> Optional[Service]:
        """A service, None if no site offers it: the Map call then fails with the reason."""
        if not re.fullmatch(r"\S+", service):
            return None
        found = self._pages("ListServices", "services", {"filter": "name=" + service})
        return service_in(found[0]) if found else None

    def sites(self) -> list[Site]:
        """The sites of the grid with their queues, by name."""
        return [site_in(s) for s in self._pages("ListSites", "sites", {})]

    def services(self) -> list[Service]:
        """The services of the grid, by name."""
        return [service_in(s) for s in self._pages("ListServices", "services", {})]

    def why(self, job: Union[Job, str]) -> Optional[Decision]:
        """The decision that chose the site of a job, with all candidates; None if the
        client chose the site."""
        return (job.refresh() if isinstance(job, Job) else self.job(job)).decision

    def wait_all(self, jobs: Iterable[Job], timeout: Optional[float] = None) -> list[Job]:
        """Waits until all have ended (``grpc_wait_and``)."""
        all, scope = _jobs(jobs), Scope(check.timeout(timeout))
        for job in all:
            job._wait(scope)
        return all

    def wait_any(self, jobs: Iterable[Job], timeout: Optional[float] = None) -> Job:
        """Waits until one has ended, and returns it (``grpc_wait_or``). The error of a job
        is raised only if every job fails."""
        all, limit = _jobs(jobs), check.timeout(timeout)
        if not all:
            raise GridError("bad-value", "none given", field="jobs", accepted="at least one job")
        for job in all:
            if job.ended:
                return job
        scope, ends = Scope(limit), queue.Queue()  # type: tuple[Scope, queue.Queue[Any]]

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
            raise AssertionError("no job has ended")
        finally:
            scope.stop()
            for t in threads:
                if t.ident is not None:
                    t.join()


def _jobs(jobs: Any) -> list[Job]:
    """The jobs to wait for."""
    all = check.items("jobs", jobs, "jobs")
    for job in all:
        if not isinstance(job, Job):
            raise check.wrong("jobs", job, "jobs, as submit returns them")
    return all
