"""Has the data that a request uses at its server."""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING, Any

from .call import SERVER
from .data import Data, data_in, handles_in
from .errors import GridError, Kind
from .scope import Scope
from .pursuit import Target

if TYPE_CHECKING:
    from .driver import Driver

_FIRST = 30.0  # until the first report of a copy, seconds


def supply(driver: Driver, at: Target, request: dict[str, Any], scope: Scope) -> None:
    """The server itself copies what is missing."""
    ids = handles_in(request)
    if not ids:
        return
    there = driver._tell(at, "GetData", {"ids": ids}, scope).get("data", ())
    for id in sorted(set(ids) - {d["id"] for d in there}):
        copy(driver, at.address, id, scope)


def copy(driver: Driver, url: str, id: str, scope: Scope) -> Data:
    """Has a server copy data, as long as each try makes progress or patience lasts. It gives
    up at once if no connection can be made."""
    most, since = -1, time.monotonic()
    while True:
        try:
            progress = driver._wire.stream(url, SERVER, "CopyData", {"id": id}, scope, _FIRST)
            with contextlib.closing(progress):  # type: ignore[type-var]
                for message in progress:
                    if "data" in message:
                        return data_in(message["data"])
                    have = int(message.get("haveBytes", 0))
                    if have > most:
                        most, since = have, time.monotonic()
            why = f"the copy of data {id} ended before it was complete"
            raise GridError("unreachable", why, retryable=True, kind=Kind.SILENT)
        except GridError as e:
            given_up = e.kind in (Kind.REFUSED, Kind.ABSENT) or e.kind is Kind.UNSENT and most < 0
            if given_up or time.monotonic() - since >= driver.patience:
                raise
        scope.pause(0.2)
