"""Wishes about how a request is executed."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Optional, Union

from .data import keep_out
from .errors import GridError
from .values import Seconds, instant_out, seconds_out


@dataclass(frozen=True)
class Agreement:
    """Makes a deadline an agreement: a site whose plan does not keep it refuses."""

    value: float = 0.0  # what keeping it is worth, for the site's accounts
    penalty: float = 0.0  # what breaking it costs
    checkpointable: bool = False  # the job can be stopped and go on


@dataclass(frozen=True)
class Options:
    """What is left out is the site's choice, or none."""

    width: Optional[int] = None  # processors
    walltime: Optional[Seconds] = None
    shapes: Sequence[tuple[int, Seconds]] = ()  # widths and their walltimes to choose from
    deadline: Optional[datetime.datetime] = None
    agreement: Optional[Agreement] = None  # about the deadline
    earliest_start: Optional[datetime.datetime] = None
    memory: int = 0  # of each task, bytes
    cpu: float = 0.0  # share of a processor that each task can use, up to 1
    licences: Mapping[str, int] = field(default_factory=dict)
    into: str = ""  # ID of the reservation in which the job is to run
    input_site: str = ""  # where the input data lie already
    idempotent: bool = False  # executing it twice does no harm
    owner: Optional[str] = None  # who asks, in place of the client's own
    labels: Mapping[str, str] = field(default_factory=dict)
    keep: Union[Mapping[str, str], Sequence[str]] = ()  # arguments whose data stay at the site; or modes by their names

    def out(self) -> dict[str, Any]:
        """The part of a request that these are."""
        m: dict[str, Any] = {
            "memoryBytes": str(self.memory), "cpu": self.cpu, "into": self.into, "inputSite": self.input_site,
            "idempotent": self.idempotent, "labels": dict(self.labels),
            "licences": [{"name": n, "copies": c} for n, c in self.licences.items()],
            "shapes": [{"width": w, "walltime": seconds_out("request.shapes", t)} for w, t in self.shapes],
        }
        m = {k: v for k, v in m.items() if v and v != "0"}
        if self.keep:
            m["keep"] = keep_out(self.keep)
        if self.width is not None:
            if self.width < 1:
                raise GridError(
                    "out-of-range", f"{self.width}", field="request.width", accepted="1 or more, or none for the site's choice"
                )
            m["width"] = self.width
        if self.walltime is not None:
            m["walltime"] = seconds_out("request.walltime", self.walltime)
        if self.deadline is not None:
            m["deadline"] = instant_out("request.deadline", self.deadline)
        if self.earliest_start is not None:
            m["earliestStart"] = instant_out("request.earliest_start", self.earliest_start)
        if self.agreement is not None:
            a = self.agreement
            m["agreement"] = {"value": a.value, "penalty": a.penalty, "checkpointable": a.checkpointable}
        return m
