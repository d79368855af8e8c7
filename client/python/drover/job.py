"""A request that a server has accepted."""

from __future__ import annotations

import base64
import contextlib
import datetime
import hashlib
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Callable, Optional, Union

from . import check
from .arrays import Gathering, Matrix, Vector
from .call import SERVER
from .data import Data, kept_in
from .errors import GridError, Kind, PatienceError
from .files import header, replaced
from .grid import Decision, Outcome, Written, decision_in, outcome_in, written_in
from .scope import Scope
from .pursuit import Target
from .values import instant_in, seconds_in, word

if TYPE_CHECKING:
    from .driver import Driver

FINAL = frozenset({"done", "failed", "killed", "cancelled"})
"""The states in which a job never changes again."""


class Moved(Exception):
    """The job has moved to another site."""

    def __init__(self, epoch: int) -> None:
        super().__init__(epoch)
        self.epoch = epoch


class Job:
    """A job as last reported; a session in GridRPC.

    Its ID never changes, wherever it moves. Every method calls the server that
    has the job, follows it when it has moved, and retries until the client's patience
    runs out.
    """

    def __init__(self, client: Driver, id: str, raw: Optional[dict[str, Any]] = None, at: Optional[Target] = None) -> None:
        self._client = client
        self.id = id
        self.raw: dict[str, Any] = raw or {}  # the record in JSON
        self._at = at  # last known location
        self._epoch = self.raw.get("epoch", 0)  # the highest seen

    def __repr__(self) -> str:
        return f"<drover.Job {self.id} {self.state or 'not asked for yet'} at {self.site}>"

    @property
    def state(self) -> str:
        """``waiting``, ``starting``, ``running``, ``done``, ``failed``, ``killed``, ``cancelled``, ..."""
        return word(self.raw.get("state"), "JOB_STATE_")

    @property
    def ended(self) -> bool:
        """Whether the last report has a final state. ``refresh`` asks again."""
        return self.state in FINAL

    @property
    def site(self) -> str:
        return self.raw.get("site", "")

    @property
    def service(self) -> str:
        return self.raw.get("request", {}).get("service", "")

    @property
    def width(self) -> int:
        """Processors."""
        return self.raw.get("shape", {}).get("width", 0)

    @property
    def submitted(self) -> Optional[datetime.datetime]:
        return instant_in(self.raw.get("submittedAt"))

    @property
    def started(self) -> Optional[datetime.datetime]:
        return instant_in(self.raw.get("startedAt"))

    @property
    def finished(self) -> Optional[datetime.datetime]:
        return instant_in(self.raw.get("endedAt"))

    @property
    def estimated_completion(self) -> float:
        """Seconds from ``submitted`` to the end, as estimated then."""
        return seconds_in(self.raw.get("estimatedCompletion"))

    @property
    def unknown_for(self) -> float:
        """How long its site has been silent, seconds; all other values are as old."""
        return seconds_in(self.raw.get("unknownFor"))

    @property
    def outcome(self) -> Optional[Outcome]:
        """How it ended, None before."""
        return outcome_in(self.raw.get("outcome"))

    @property
    def outputs(self) -> dict[str, Written]:
        """Its outputs by argument; complete when it has ended."""
        return {o["argument"]: written_in(o) for o in self.raw.get("outputs", ())}

    @property
    def kept(self) -> dict[str, Data]:
        """Data that stays at its site, by argument: inputs at once, outputs once it is
        done."""
        return kept_in(self.raw.get("request", {}))

    @property
    def awaits(self) -> list[str]:
        """IDs of the jobs that have to end before it may start: it is ``held`` for them."""
        return list(self.raw.get("awaits", ()))

    @property
    def attempt(self) -> int:
        """How often it was started at this site."""
        return self.raw.get("attempt", 0)

    @property
    def retried(self) -> int:
        """How often it was restarted after a failure."""
        return self.raw.get("retried", 0)

    @property
    def decision(self) -> Optional[Decision]:
        """The decision that chose its site; None if the client chose it."""
        return decision_in(self.raw.get("decision"))

    def refresh(self) -> Job:
        """Asks for the job as it is now (``grpc_probe``)."""
        remembered: list[dict[str, Any]] = []

        def visit(url: str, progress: Callable[[int], None]) -> Iterator[bytes]:
            self._ask(url, Scope())
            return iter(())

        try:
            self._visit(visit, self._client.patience, found=remembered.append)
        except PatienceError:
            # The agents remember the reports of silent sites.
            if not remembered or "unknownFor" not in remembered[-1]:
                raise
            self._take(remembered[-1])
        return self

    def wait(self, timeout: Optional[float] = None) -> Job:
        """Waits for the end, well or not (``grpc_wait``).

        A ``TimeoutError`` says that the job continues. Meanwhile its server can be
        restarted, and the job can move.
        """
        limit = check.timeout(timeout)
        try:
            self._wait(Scope(limit))
        except TimeoutError:
            raise TimeoutError(f"job {self.id} has not ended after {timeout} seconds") from None
        return self

    def _wait(self, scope: Scope) -> None:
        if self.ended:
            return

        def visit(url: str, progress: Callable[[int], None]) -> Iterator[bytes]:
            c = self._client
            watch = c._wire.stream(url, SERVER, "WatchJob", {"jobId": self.id}, scope, c.call_timeout)
            with contextlib.closing(watch):  # type: ignore[type-var]
                for message in watch:
                    progress(message["job"].get("epoch", 0))
                    self._take(message["job"])
                    if self.ended:
                        return iter(())
            why = "the server ended the watch before the job ended"
            raise GridError("unreachable", why, retryable=True, kind=Kind.SILENT)

        self._visit(visit, self._client.long_patience, scope)

    def cancel(self) -> Job:
        """Cancels the job (``grpc_cancel``); its state can be ``cancelling`` for a while.

        On one that has ended this changes nothing.
        """

        def visit(url: str, progress: Callable[[int], None]) -> Iterator[bytes]:
            c = self._client
            self._take(c._wire.call(url, SERVER, "CancelJob", {"jobId": self.id}, Scope(), c.call_timeout)["job"])
            if not self.ended and self.state != "cancelling":
                raise GridError(
                    "recorded",
                    f"the cancel of job {self.id} is recorded at site {self.site}, where it is {self.state}",
                    hint="it will be decided when the move is settled; wait for the job to see the result",
                    retryable=True, kind=Kind.BUSY,
                )
            return iter(())

        self._visit(visit, self._client.patience)
        return self

    def logs(self, *, stderr: bool = False, follow: bool = False, offset: int = 0) -> Iterator[bytes]:
        """A log of the job, in pieces; with follow, up to the end of the job."""
        check.whole("offset", offset, 0)
        stream = "LOG_STREAM_STDERR" if stderr else "LOG_STREAM_STDOUT"
        at = offset

        def visit(url: str, progress: Callable[[int], None]) -> Iterator[bytes]:
            nonlocal at
            # This notices a server that does not answer: a log can be silent for any time.
            self._ask(url, Scope())
            progress(self._epoch)
            message = {"jobId": self.id, "stream": stream, "follow": follow, "offset": str(at)}
            for piece in self._client._wire.stream(url, SERVER, "ReadLogs", message, Scope()):
                data = base64.b64decode(piece.get("data", ""))
                progress(0)
                at = int(piece.get("offset", 0)) + len(data)
                yield data
            self._ask(url, Scope())
            if follow and not self.ended:
                why = f"site {self.site} ended the log of job {self.id} before the job ended"
                raise GridError("unreachable", why, retryable=True, kind=Kind.BUSY)

        return self._client._pursue(self, visit, self._client.long_patience, Scope())

    def stream(self, argument: str) -> Iterator[bytes]:
        """An output of the job, in pieces. It is complete and verified when the iterator
        ends without an error."""
        check.text("argument", argument, "the name of an argument")
        at, digest = 0, hashlib.sha256()

        def visit(url: str, progress: Callable[[int], None]) -> Iterator[bytes]:
            nonlocal at
            self._ask(url, Scope())
            for data in self._client._output(url, self.id, argument, at):
                progress(self._epoch)
                at += len(data)
                digest.update(data)
                yield data
            want = self.outputs.get(argument)
            if want and want.sha256 and want.sha256 != digest.hexdigest():
                why = f"output {argument} of job {self.id} has checksum {digest.hexdigest()}, expected {want.sha256}"
                raise GridError("internal", why, field=argument, hint="download it again")

        return self._client._pursue(self, visit, self._client.long_patience, Scope())

    def download(self, argument: str, path: Union[str, "os.PathLike[str]"]) -> None:
        """Saves an output of the job at path when it is complete; a vector or matrix with
        NumPy's header if path ends in ``.npy``. It resumes after a broken connection."""
        with replaced(path) as f:
            begun = False
            for piece in self.stream(argument):
                if not begun:
                    f.write(self._header(argument, path))
                begun = True
                f.write(piece)
            if not begun:  # it is empty
                f.write(self._header(argument, path))

    def _header(self, argument: str, path: Union[str, "os.PathLike[str]"]) -> bytes:
        of = self.outputs.get(argument)
        return b"" if of is None else header(path, of.element, of.dimensions)

    def read(self, argument: str) -> bytes:
        """An output of the job as bytes; for a vector or matrix, the block."""
        return b"".join(self.stream(argument))

    def array(self, argument: str) -> Union[Vector, Matrix]:
        """A vector or matrix that the job has written: an ``array.array`` (a list of
        complex numbers), or a ``Matrix``."""
        into: Optional[Gathering] = None
        for piece in self.stream(argument):
            into = into or self._gathering(argument)
            into.add(piece)
        return (into or self._gathering(argument)).whole()

    def _gathering(self, argument: str) -> Gathering:
        of = self.outputs.get(argument)
        if of is None or not of.element:
            raise GridError(
                "wrong-type", f"output {argument} of job {self.id} is a file", field=argument, accepted="a vector or matrix",
                hint="read and download bring files",
            )
        return Gathering(of.element, of.dimensions, of.size)

    def _visit(
        self,
        visit: Callable[[str, Callable[[int], None]], Iterator[bytes]],
        patience: float,
        scope: Optional[Scope] = None,
        found: Callable[[dict[str, Any]], None] = lambda raw: None,
    ) -> None:
        for _ in self._client._pursue(self, visit, patience, scope or Scope(), found):
            raise AssertionError("a visit that gives data")

    def _ask(self, url: str, scope: Scope) -> None:
        c = self._client
        self._take(c._wire.call(url, SERVER, "GetJob", {"jobId": self.id}, scope, c.call_timeout)["job"])

    def _take(self, raw: dict[str, Any]) -> None:
        """Takes a report of a server."""
        epoch = raw.get("epoch", 0)
        if word(raw.get("state"), "JOB_STATE_") == "gone":
            raise Moved(epoch)
        self._epoch = max(self._epoch, epoch)
        self.raw = raw
