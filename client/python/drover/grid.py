"""What the grid reports about itself and its jobs. ``raw`` is the whole message in JSON."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, field
from typing import Any, Optional

from .values import instant_in, seconds_in, value_in, word

Raw = dict[str, Any]


@dataclass(frozen=True)
class Outcome:
    """How a job ended."""

    exit_code: int  # if the program exited
    signal: str  # that ended it, "SIGKILL"; may be empty
    reason: str  # for people


@dataclass(frozen=True)
class Written:
    """An output of a job."""

    argument: str
    size: int  # bytes
    sha256: str  # in hexadecimal digits; empty while the job runs
    element: str = ""  # of a vector or matrix: "float64", ...
    dimensions: tuple[int, ...] = ()  # the length of a vector, or the rows and columns of a matrix
    data: str = ""  # handle under which it stays at the site; empty for none


@dataclass(frozen=True)
class Missing:
    """Why a site did not give what was asked for."""

    reason: str  # "timeout", "unreachable" or "refused"
    detail: str  # what the site, or the failed call, said


@dataclass(frozen=True)
class Candidate:
    """One site as the agent saw it. Times are seconds after the decision."""

    site: str
    wait: float  # until the start, which is not before the end of the transfer
    transfer: float  # of the input
    run: float
    completion: float
    margin: float  # how much later than at the chosen site
    width: int  # processors
    kind: str  # "promised", "planned", "probable" or "forecast"
    missing: Optional[Missing]  # why there was no estimate
    raw: Raw = field(repr=False)


@dataclass(frozen=True)
class Decision:
    """Why a job is where it is."""

    made_at: Optional[datetime.datetime]  # on the agent's clock
    agent: str
    chosen: str  # site
    candidates: list[Candidate]  # the best first, then the missing ones
    raw: Raw = field(repr=False)


@dataclass(frozen=True)
class Argument:
    """One argument of a service."""

    name: str
    doc: str
    type: str  # "int", "float", "string", "bool", "file-in", "file-out", "file-inout", "vector-in", "matrix-in", ...
    required: bool
    default: Any
    raw: Raw = field(repr=False)
    element: str = ""  # of a vector or matrix
    dimensions: tuple[str, ...] = ()  # of a vector or matrix: expressions; none for any


@dataclass(frozen=True)
class Service:
    """A program that sites offer under a name."""

    name: str
    doc: str
    arguments: list[Argument]
    sites: list[str]  # that offer it
    raw: Raw = field(repr=False)


@dataclass(frozen=True)
class Site:
    """One cluster and the server in front of it."""

    name: str
    address: str  # URL of its server
    processors: int
    busy: int  # processors that jobs run on
    running: int  # jobs
    waiting: int
    policy: str
    missing: Optional[Missing]  # why the queue is not known
    raw: Raw = field(repr=False)


def missing_in(raw: Optional[Raw]) -> Optional[Missing]:
    if raw is None:
        return None
    return Missing(word(raw.get("reason"), "MISSING_REASON_"), raw.get("detail", {}).get("message", ""))


def decision_in(raw: Optional[Raw]) -> Optional[Decision]:
    if raw is None:
        return None
    candidates = [
        Candidate(
            c["site"], seconds_in(c.get("wait")), seconds_in(c.get("transfer")), seconds_in(c.get("run")),
            seconds_in(c.get("completion")), seconds_in(c.get("margin")), c.get("width", 0),
            word(c.get("kind"), "ESTIMATE_KIND_"), missing_in(c.get("missing")), c,
        )
        for c in raw.get("candidates", ())
    ]
    return Decision(instant_in(raw.get("madeAt")), raw.get("agent", ""), raw.get("chosen", ""), candidates, raw)


def service_in(raw: Raw) -> Service:
    s = raw["service"]
    arguments = [
        Argument(
            a["name"], a.get("doc", ""), word(a.get("type"), "ARGUMENT_TYPE_"), a.get("required", False),
            value_in(a.get("default", {})), a, word(a.get("element"), "ELEMENT_TYPE_"), tuple(a.get("dimensions", ())),
        )
        for a in s.get("arguments", ())
    ]
    return Service(s["name"], s.get("doc", ""), arguments, raw.get("sites", []), raw)


def site_in(raw: Raw) -> Site:
    s, q = raw["site"], raw.get("status", {})
    return Site(
        s["name"], s["address"], s.get("platform", {}).get("processors", 0), q.get("processorsBusy", 0),
        q.get("running", 0), q.get("waiting", 0), s.get("policy", ""), missing_in(raw.get("missing")), raw,
    )


def outcome_in(raw: Optional[Raw]) -> Optional[Outcome]:
    if raw is None:
        return None
    return Outcome(raw.get("exitCode", 0), raw.get("signal", ""), raw.get("reason", ""))


def written_in(raw: Raw) -> Written:
    return Written(
        raw["argument"], int(raw.get("sizeBytes", 0)), raw.get("sha256", ""), word(raw.get("element"), "ELEMENT_TYPE_"),
        tuple(int(n) for n in raw.get("dimensions", ())), raw.get("dataId", ""),
    )
