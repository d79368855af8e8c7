"""Data that stays at sites under handles: requests use it without sending it again."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Optional, Union

from . import check
from .errors import GridError
from .grid import Raw
from .ids import is_id, new_id
from .values import instant_in, word

MODES = ("volatile", "sticky", "persistent")
"""How long data stays: until the first job that used it has ended; until it is removed, at
one site only; until it is removed, or evicted when its site needs space."""


@dataclass(frozen=True)
class Data:
    """Content that stays at a site; it never changes. As an argument of a request it is
    used in place, or copied to the site of the request."""

    id: str  # the handle
    name: str = ""  # base name that a program sees
    size: int = 0  # bytes
    sha256: str = ""  # in hexadecimal digits; empty if only the handle is known
    element: str = ""  # of a vector or matrix: "float64", ...; empty for a file
    dimensions: tuple[int, ...] = ()
    mode: str = ""  # "volatile", "sticky" or "persistent"
    owner: str = ""
    site: str = ""
    copy: bool = False  # copied there for a job
    put: Optional[datetime.datetime] = None  # on the clock of the site, like used
    used: Optional[datetime.datetime] = None
    job: str = ""  # that wrote it
    raw: Raw = field(default_factory=dict, repr=False, compare=False)

    def out(self) -> dict[str, Any]:
        """The value of an argument as it is sent."""
        content: dict[str, Any] = {"dataId": self.id}
        if self.name:
            content["name"] = self.name
        if not self.element:
            return {"fileValue": content}
        element = "ELEMENT_TYPE_" + self.element.upper()
        return {"arrayValue": {"content": content, "element": element, "dimensions": [str(n) for n in self.dimensions]}}


def data_in(raw: Raw) -> Data:
    content = raw.get("content", {})
    return Data(
        id=raw.get("id", ""), name=content.get("name", ""), size=int(content.get("sizeBytes", 0)), sha256=content.get("sha256", ""),
        element=word(raw.get("element"), "ELEMENT_TYPE_"), dimensions=tuple(int(n) for n in raw.get("dimensions", ())),
        mode=word(raw.get("mode"), "DATA_MODE_") or "persistent", owner=raw.get("owner", ""), site=raw.get("site", ""),
        copy=raw.get("copy", False), put=instant_in(raw.get("putAt")), used=instant_in(raw.get("usedAt")), job=raw.get("jobId", ""), raw=raw,
    )


def handle_of(data: Union[Data, str]) -> str:
    """The handle of data, checked."""
    id = data.id if isinstance(data, Data) else data
    if not isinstance(id, str) or not is_id(id):
        raise GridError("bad-value", repr(id[:70] if isinstance(id, str) else id), field="data_id", accepted="drover.Data, or the handle of data")
    return id


def mode_out(field: str, mode: str) -> str:
    """A mode as it is sent."""
    if mode not in MODES:
        raise GridError("bad-value", repr(mode), field=field, accepted=", ".join(MODES))
    return "DATA_MODE_" + mode.upper()


def keep_out(keep: Any) -> dict[str, Any]:
    """The data of a job that is to stay, under new handles: modes by argument, or
    arguments only."""
    if isinstance(keep, str):
        keep = (keep,)
    modes = keep if isinstance(keep, Mapping) else {name: "persistent" for name in check.items("request.keep", keep, "names of arguments, or modes by them")}
    for name in modes:
        if not isinstance(name, str) or not name:
            raise GridError("bad-value", repr(name), field="request.keep", accepted="names of arguments")
    return {name: {"dataId": new_id(), "mode": mode_out("request.keep." + name, mode)} for name, mode in modes.items()}


def kept_in(request: Raw) -> dict[str, Data]:
    """The data of a job that stays, by argument: handles and modes."""
    return {
        name: Data(id=k["dataId"], mode=word(k.get("mode"), "DATA_MODE_") or "persistent")
        for name, k in request.get("keep", {}).items()
    }


def handles_in(request: Raw) -> list[str]:
    """The handles of the data that a request uses, each once."""
    values = request.get("arguments", {}).values()
    contents = [v.get("fileValue") or v.get("arrayValue", {}).get("content", {}) for v in values]
    return sorted({c["dataId"] for c in contents if c.get("dataId")})
