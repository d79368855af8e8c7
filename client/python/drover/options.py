"""Options of a request."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Optional, Union

from . import check
from .data import keep_out
from .ids import job_id_of
from .values import Seconds, instant_out, seconds_out

if TYPE_CHECKING:
    from .job import Job


@dataclass(frozen=True)
class Agreement:
    """Makes the deadline an agreement: only a site with a plan that keeps it accepts."""

    value: float = 0.0  # of keeping it, for the site's accounts
    penalty: float = 0.0  # of breaking it
    checkpointable: bool = False  # the job can be stopped and continue later


@dataclass(frozen=True)
class Options:
    """An option that is left out is the site's choice, or none."""

    width: Optional[int] = None  # processors
    walltime: Optional[Seconds] = None
    shapes: Sequence[tuple[int, Seconds]] = ()  # widths and their walltimes to choose from
    deadline: Optional[datetime.datetime] = None
    agreement: Optional[Agreement] = None  # about the deadline
    earliest_start: Optional[datetime.datetime] = None
    memory: int = 0  # of each task, bytes
    cpu: float = 0.0  # share of a processor that each task can use, up to 1
    licenses: Mapping[str, int] = field(default_factory=dict)
    into: str = ""  # ID of the reservation in which the job is to run
    input_site: str = ""  # where the input data already is
    idempotent: bool = False  # executing it twice does no harm
    owner: Optional[str] = None  # instead of the client's own
    labels: Mapping[str, str] = field(default_factory=dict)
    after: Sequence[Union[Job, str]] = ()  # jobs that have to be done before it may start, or their IDs
    after_any: Sequence[Union[Job, str]] = ()  # jobs that have to end, well or not
    retries: int = 0  # how often it is restarted after a failure, 0..100
    retry_on: Sequence[int] = ()  # with retries: the exit codes after which, 1..255; empty for all
    site: str = ""  # the only site that may run it
    keep: Union[Mapping[str, str], Sequence[str]] = ()  # arguments with data that stays at the site; or modes by argument

    def out(self) -> dict[str, Any]:
        """These options in a request."""
        self._check()
        m: dict[str, Any] = {
            "memoryBytes": str(self.memory), "cpu": self.cpu, "into": self.into, "inputSite": self.input_site,
            "idempotent": self.idempotent, "labels": dict(self.labels),
            "licenses": [{"name": n, "copies": c} for n, c in self.licenses.items()],
            "shapes": [{"width": w, "walltime": seconds_out("request.shapes", t)} for w, t in self.shapes],
        }
        m.update(order_out(self))
        m = {k: v for k, v in m.items() if v and v != "0"}
        if self.keep:
            m["keep"] = keep_out(self.keep)
        if self.width is not None:
            m["width"] = check.whole("request.width", self.width, 1, accepted="1..67108864, or none for the site's choice")
        if self.walltime is not None:
            m["walltime"] = seconds_out("request.walltime", self.walltime)
        if self.deadline is not None:
            m["deadline"] = instant_out("request.deadline", self.deadline)
        if self.earliest_start is not None:
            m["earliestStart"] = instant_out("request.earliest_start", self.earliest_start)
        if self.agreement is not None:
            a = self.agreement
            check.number("request.agreement.value", a.value)
            check.number("request.agreement.penalty", a.penalty)
            m["agreement"] = {"value": a.value, "penalty": a.penalty, "checkpointable": a.checkpointable}
        return m

    def _check(self) -> None:
        """Refuses values of another type. The server checks their ranges."""
        check.whole("request.memory_bytes", self.memory)
        check.number("request.cpu", self.cpu)
        for field, value in (("into", self.into), ("input_site", self.input_site), ("site", self.site)):
            check.text("request." + field, value)
        if self.owner is not None:
            check.text("request.owner", self.owner)
        if not isinstance(self.idempotent, bool):
            raise check.wrong("request.idempotent", self.idempotent, "a bool")
        if self.agreement is not None and not isinstance(self.agreement, Agreement):
            raise check.wrong("request.agreement", self.agreement, "drover.Agreement")
        for key, value in check.pairs("request.labels", self.labels, "texts by their keys").items():
            check.text("request.labels", key)
            check.text(f"request.labels.{key}", value)
        for name, copies in check.pairs("request.licenses", self.licenses, "copies by the names of licenses").items():
            check.whole(f"request.licenses.{check.text('request.licenses', name)}", copies)
        for shape in check.items("request.shapes", self.shapes, "pairs of a width and a walltime"):
            if not isinstance(shape, (tuple, list)) or len(shape) != 2:
                raise check.wrong("request.shapes", shape, "pairs of a width and a walltime")
            check.whole("request.shapes", shape[0])


def order_out(o: Options) -> dict[str, Any]:
    """Dependencies, retries and the only site of a request."""
    after: dict[str, str] = {}
    for jobs, condition in ((o.after_any, "ANY"), (o.after, "DONE")):  # the stricter one wins
        for job in check.items("request.after", jobs, "jobs, or their IDs"):
            after[job_id_of("request.after", job)] = "DEPENDENCY_CONDITION_" + condition
    codes = check.items("request.retry_on", o.retry_on, "exit codes")
    for code in codes:
        check.whole("request.retry_on", code)
    return {
        "after": [{"jobId": id, "condition": c} for id, c in after.items()], "site": o.site,
        "retries": check.whole("request.retries", o.retries), "retryOn": codes,
    }
