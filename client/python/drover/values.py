"""Arguments in JSON, and answers in Python."""

from __future__ import annotations

import datetime
import hashlib
import math
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Optional, Union

from . import check, npy
from .arrays import SIZES, Block, block_of, from_list
from .errors import FileError, GridError

if TYPE_CHECKING:
    from .grid import Service

PIECE = 256 << 10
"""How much of a file is sent at once, bytes."""

Seconds = Union[int, float, datetime.timedelta]


@dataclass(frozen=True)
class Output:
    """Where ``Client.call`` puts what a job writes for an argument; of one that goes in,
    too, ``value`` is what does. A vector or matrix becomes one of NumPy's files if the
    path ends in ``.npy``, and else the block alone."""

    path: Union[str, "os.PathLike[str]"]
    value: Any = None


class Content:
    """The content of a file, vector or matrix argument. It is read in pieces."""

    def __init__(self, source: Union[bytes, bytearray, Block, "os.PathLike[str]"], name: str) -> None:
        """``name`` is the name that the program sees for content without a file."""
        self._source: Any = source
        self._begin = 0  # offset in the file
        self.array: Optional[tuple[str, list[int]]] = None  # element and dimensions
        if isinstance(source, Block):
            self._source, self.array = source.content, (source.element, source.dimensions)
        self._file = isinstance(self._source, os.PathLike)
        self.name = os.path.basename(os.fspath(self._source)) if self._file else "" if self.array else name
        self._measure()

    @classmethod
    def of_npy(cls, path: "os.PathLike[str]") -> Content:
        """The elements of a NumPy file."""
        c = cls.__new__(cls)
        element, dimensions, c._begin = npy.read(path)
        c._source, c._file, c.name, c.array = path, True, "", (element, dimensions)
        c._measure()
        if c.size != math.prod(dimensions) * SIZES[element]:
            why = f"{c.size} bytes follow its header, {dimensions} elements of {element} have others"
            raise FileError(f"file {os.path.basename(os.fspath(path))}: {why}")
        return c

    def _measure(self) -> None:
        self.size = 0
        digest = hashlib.sha256()
        for piece in self.pieces():
            digest.update(piece)
            self.size += len(piece)
        self.sha256 = digest.hexdigest()

    def pieces(self, offset: int = 0) -> Iterator[bytes]:
        """The content from an offset on, at least one piece."""
        if not self._file:
            content = memoryview(self._source)
            yield content[offset : offset + PIECE]
            for at in range(offset + PIECE, len(content), PIECE):
                yield content[at : at + PIECE]
            return
        try:
            with open(self._source, "rb") as f:
                f.seek(self._begin + offset)
                piece = f.read(PIECE)
                yield piece
                while len(piece) == PIECE:
                    piece = f.read(PIECE)
                    if piece:
                        yield piece
        except (OSError, ValueError) as e:  # ValueError for an invalid name
            raise FileError(f"file {self.name!r}: {e}") from e

    def out(self) -> dict[str, Any]:
        content = {"sha256": self.sha256, "sizeBytes": str(self.size), "name": self.name}
        if self.array is None:
            return {"fileValue": content}
        element, dimensions = self.array
        return {
            "arrayValue": {
                "content": content, "element": "ELEMENT_TYPE_" + element.upper(), "dimensions": [str(n) for n in dimensions],
            }
        }


def content_of(name: str, value: Any, about: Callable[[], Optional[Service]]) -> Optional[Content]:
    """The content that an argument sends to the site, None for none. ``about`` describes the
    service, which gives lists and ``.npy`` files their types."""
    if isinstance(value, (bool, int, float, str)):
        return None
    if isinstance(value, (bytes, bytearray)):
        return Content(value, name)
    listed, path = isinstance(value, (list, tuple)), isinstance(value, os.PathLike)
    if not listed and not (path and npy.is_npy(value)):
        source = value if path else block_of(name, value)
        return None if source is None else Content(source, name)
    service = about()
    argument = next((a for a in service.arguments if a.name == name), None) if service else None
    ndim = 0 if argument is None else {"vector": 1, "matrix": 2}.get(argument.type.split("-")[0], 0)
    if path:
        return Content.of_npy(value) if ndim else Content(value, name)
    if argument is None:  # the Map call refuses it by its name
        return Content(from_list(name, value, "float64", 2 if value and isinstance(value[0], (list, tuple)) else 1), name)
    return Content(from_list(name, value, argument.element, ndim), name) if ndim else None


def value_out(name: str, value: Any) -> dict[str, Any]:
    """The value of an argument in JSON."""
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
        return {"stringValue": check.text("request.arguments." + name, value)}
    raise GridError(
        "wrong-type", f"{type(value).__name__}", field="request.arguments." + name,
        accepted="bool, int, float, str; for files bytes, a pathlib.Path or an Output; for vectors and matrices "
        "lists, a Matrix, or what has the buffer protocol",
    )


def value_in(value: dict[str, Any]) -> Any:
    """A value of an answer; a file is its name."""
    for key, content in value.items():
        if key == "intValue":
            return int(content)
        if key == "floatValue":
            return float(content.replace("Infinity", "inf")) if isinstance(content, str) else float(content)
        if key == "fileValue":
            return content.get("name", "")
        if key == "arrayValue":
            return f"{' x '.join(content.get('dimensions', ()))} of {word(content.get('element'), 'ELEMENT_TYPE_')}"
        return content
    return None


def seconds_out(field: str, d: Seconds) -> str:
    """A time span in JSON: "1.5s"."""
    s = d.total_seconds() if isinstance(d, datetime.timedelta) else d
    if isinstance(s, bool) or not isinstance(s, (int, float)):
        raise check.wrong(field, d, "a number of seconds, or a timedelta")
    if not check.finite(s):
        raise GridError("out-of-range", "not a finite number", field=field, accepted="a finite number of seconds")
    return f"{s:.9f}".rstrip("0").rstrip(".") + "s"


def seconds_in(text: Optional[str]) -> float:
    """A time span in seconds, 0 for none."""
    return float(text[:-1]) if text else 0.0


def instant_out(field: str, t: datetime.datetime) -> str:
    """An instant in JSON. It needs a time zone."""
    if check.instant(field, t).tzinfo is None:
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
