"""Errors, and what a failed call proves."""

from __future__ import annotations

import enum
from typing import Any, Optional


class Kind(enum.Enum):
    """What a failed call proves; it decides what the client does next."""

    UNSENT = "unsent"  # nothing left this machine, or nothing that could make a job
    SILENT = "silent"  # it may have been received, and no answer came
    BUSY = "busy"  # the server said that the same call may succeed later
    ABSENT = "absent"  # the server said that it does not know the job
    REFUSED = "refused"  # the server said no
    UNFIT = "unfit"  # it said no to a file, before a submission: another may take it


class DroverError(Exception):
    """The base of all errors of this package."""


class GridError(DroverError):
    """A request that the grid or the client refuses, or that gets no answer.

    ``reason`` is a stable word to branch on; ``proto/problem/reason.go`` lists them.
    """

    def __init__(
        self,
        reason: str,
        message: str,
        *,
        field: str = "",
        accepted: str = "",
        hint: str = "",
        retryable: bool = False,
        offer: Optional[dict[str, Any]] = None,
        kind: Kind = Kind.REFUSED,
    ) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message
        self.field = field  # "request.arguments.n"; may be empty
        self.accepted = accepted  # what would have been accepted; may be empty
        self.hint = hint  # what a person could do; may be empty
        self.retryable = retryable  # whether the same call may succeed later
        self.offer = offer  # the nearest alternative, or None
        self.kind = kind

    def __str__(self) -> str:
        text = self.message
        if self.accepted and "accepted: " not in text:
            text += ", accepted: " + self.accepted
            if self.field and not text.startswith(self.field):
                text = self.field + ": " + text
        return text


class FileError(DroverError):
    """A local file cannot be read or written."""


class ClosedError(DroverError):
    """The client was closed before."""

    def __init__(self) -> None:
        super().__init__("the client is closed")


class UnknownOutcome(DroverError):
    """A submission was sent and not answered: the job may run.

    ``Client.job(error.job)`` asks for it later.
    """

    def __init__(self, job: str, site: str, after: float, tries: int, cause: BaseException) -> None:
        super().__init__(
            f"job {job}: whether site {site} has accepted it is unknown after {after:.3g}s and {_tries(tries)}: {cause}"
        )
        self.job = job
        self.site = site  # the only site that may have it
        self.after = after  # seconds since the first try
        self.cause = cause


class PatienceError(DroverError):
    """A failure that lasted longer than patience.

    A submission with this error was accepted by no server.
    """

    def __init__(self, job: str, site: str, after: float, tries: int, cause: BaseException) -> None:
        text = f"gave up after {after:.3g}s and {_tries(tries)}"
        if site:
            text += f", the last at site {site}"
        super().__init__((f"job {job}: " if job else "") + f"{text}: {cause}")
        self.job = job
        self.site = site
        self.after = after
        self.cause = cause


class HopsError(DroverError):
    """A job moved more often than the client follows."""

    def __init__(self, job: str, most: int) -> None:
        super().__init__(f"job {job}: moved more than {most} times while it was followed")
        self.job = job


class JobFailed(DroverError):
    """A job has ended, but not well. ``job`` is its last state."""

    def __init__(self, job: Any) -> None:
        text = f"job {job.id} at site {job.site}: {job.state}"
        if job.outcome and job.outcome.reason:
            text += f" ({job.outcome.reason})"
        super().__init__(text)
        self.job = job


def _tries(n: int) -> str:
    return "1 try" if n == 1 else f"{n} tries"
