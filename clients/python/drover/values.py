"""Arguments as they are sent, and answers as Python has them."""

from __future__ import annotations

import datetime
import hashlib
import io
import math
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, Optional, Union

from .errors import FileError, GridError

PIECE = 256 << 10
"""How much of a file one message carries, bytes."""

Seconds = Union[int, float, datetime.timedelta]


@dataclass(frozen=True)
class Output:
    """Where ``Client.call`` puts the file that a job writes for an argument."""

    path: Union[str, "os.PathLike[str]"]


class Content:
    """What a file argument holds. It is read in pieces, and never whole."""

    def __init__(self, source: Union[bytes, "os.PathLike[str]"], name: str) -> None:
        """``name`` is what the program should see of a file without one."""
        self._source = source
        self.name = name if isinstance(source, bytes) else os.path.basename(os.fspath(source))
        self.size = 0
        digest = hashlib.sha256()
        for piece in self.pieces():
            digest.update(piece)
            self.size += len(piece)
        self.sha256 = digest.hexdigest()

    def pieces(self, offset: int = 0) -> Iterator[bytes]:
        """The content from an offset on, at least one piece."""
        try:
            with self._open() as f:
                f.seek(offset)
                piece = f.read(PIECE)
                yield piece
                while len(piece) == PIECE:
                    piece = f.read(PIECE)
                    if piece:
                        yield piece
        except OSError as e:
            raise FileError(f"file {self.name}: {e}") from e

    def _open(self) -> BinaryIO:
        return io.BytesIO(self._source) if isinstance(self._source, bytes) else open(self._source, "rb")

    def out(self) -> dict[str, Any]:
        return {"fileValue": {"sha256": self.sha256, "sizeBytes": str(self.size), "name": self.name}}


def value_out(name: str, value: Any) -> dict[str, Any]:
    """The value of an argument as it is sent."""
    if isinstance(value, Content):
        return value.out()
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        if not -(1 << 63) <= value < 1 << 63:
            raise GridError(
                "out-of-range", str(value), field="request.arguments." + name, accepted="a number of 64 bits"
            )
        return {"intValue": str(value)}
    if isinstance(value, float):
        if math.isfinite(value):
            return {"floatValue": value}
        return {"floatValue": "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"}
    if isinstance(value, str):
        return {"stringValue": value}
    raise GridError(
        "wrong-type", f"{type(value).__name__}", field="request.arguments." + name,
        accepted="bool, int, float, str; for files bytes, a pathlib.Path or an Output",
    )


def value_in(value: dict[str, Any]) -> Any:
    """A value of an answer; of a file its name."""
    for key, content in value.items():
        if key == "intValue":
            return int(content)
        if key == "floatValue":
            return float(content.replace("Infinity", "inf")) if isinstance(content, str) else float(content)
        if key == "fileValue":
            return content.get("name", "")
        return content
    return None


def seconds_out(field: str, d: Seconds) -> str:
    """A time span as it is sent: "1.5s"."""
    s = d.total_seconds() if isinstance(d, datetime.timedelta) else float(d)
    if not math.isfinite(s) or s <= 0:
        raise GridError("out-of-range", f"{d}", field=field, accepted="above 0 seconds")
    return f"{s:.9f}".rstrip("0").rstrip(".") + "s"


def seconds_in(text: Optional[str]) -> float:
    """A time span in seconds, 0 for none."""
    return float(text[:-1]) if text else 0.0


def instant_out(field: str, t: datetime.datetime) -> str:
    """An instant as it is sent. One without a time zone could be any."""
    if t.tzinfo is None:
        raise GridError("bad-value", f"{t}", field=field, accepted="a datetime with a time zone")
    return t.astimezone(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def instant_in(text: Optional[str]) -> Optional[datetime.datetime]:
    """An instant, to the microsecond, None for none."""
    if not text:
        return None
    whole, _, parts = text.rstrip("Z").partition(".")
    t = datetime.datetime.strptime(whole, "%Y-%m-%dT%H:%M:%S").replace(tzinfo=datetime.timezone.utc)
    return t.replace(microsecond=int((parts + "000000")[:6]))


def word(name: Optional[str], prefix: str) -> str:
    """The part of an enum's name after its prefix, in lower case."""
    w = (name or "").replace(prefix, "", 1).lower().replace("_", "-")
    return "" if w == "unspecified" else w
