"""Has the data that a request uses be at the server that it goes to."""

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

_FIRST = 30.0  # how long a server may take until it says how far a copy has come, seconds


def supply(driver: Driver, at: Target, request: dict[str, Any], scope: Scope) -> None:
    """What is not there is brought by the server itself."""
    ids = handles_in(request)
    if not ids:
        return
    there = driver._tell(at, "GetData", {"ids": ids}, scope).get("data", ())
    for id in sorted(set(ids) - {d["id"] for d in there}):
        copy(driver, at.address, id, scope)


def copy(driver: Driver, url: str, id: str, scope: Scope) -> Data:
    """Has a server bring data, for as long as each try brings them further or patience
    lasts. One that cannot be reached at all is given up at once."""
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
            why = f"the copy of data {id} has ended before it was whole"
            raise GridError("unreachable", why, retryable=True, kind=Kind.SILENT)
        except GridError as e:
            given_up = e.kind in (Kind.REFUSED, Kind.ABSENT) or e.kind is Kind.UNSENT and most < 0
            if given_up or time.monotonic() - since >= driver.patience:
                raise
        scope.pause(0.2)
