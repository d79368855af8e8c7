"""Vectors and matrices, in Python and in transfer format.

What is sent is one block of elements, little-endian, the rows of a matrix one after the
other. ``array.array``, ``memoryview`` and whatever else has the buffer protocol is sent
from where it is; numpy's arrays are among these, and numpy is not needed.
"""

from __future__ import annotations

import array
import math
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Optional, Union

from . import check
from .errors import GridError

SIZES = {"float64": 8, "float32": 4, "int64": 8, "int32": 4, "uint8": 1, "complex128": 16}
"""The sizes of the types of elements, bytes."""

_CODES = {"float64": "d", "float32": "f", "int64": "q", "int32": "i", "uint8": "B"}

Vector = Union["array.array[Any]", "list[complex]"]
"""The elements of an output: complex ones in a list, all others in an ``array.array``."""


class Block:
    """A vector or matrix in transfer format."""

    def __init__(self, content: memoryview, element: str, dimensions: Sequence[int]) -> None:
        self.content = content  # of bytes
        self.element = element
        self.dimensions = list(dimensions)


class Matrix:
    """A matrix: ``rows`` times ``cols`` elements in ``data``, row by row, an
    ``array.array`` or a list of complex numbers.

    ``m[1, 2]`` is an element, ``m.view()`` all of them as a buffer: ``numpy.asarray(m.view())`` shares its memory.
    """

    def __init__(self, rows: int, cols: int, data: Vector) -> None:
        check.whole("rows", rows, 0)
        check.whole("cols", cols, 0)
        if not hasattr(data, "__len__") or isinstance(data, (str, bytes)):
            raise check.wrong("data", data, "an array.array, or a list of complex numbers")
        if rows * cols != len(data):
            raise GridError(
                "wrong-dimensions", f"{len(data)} elements in {rows} rows and {cols} columns",
                accepted="rows times columns elements",
            )
        self.rows, self.cols, self.data = rows, cols, data

    def __repr__(self) -> str:
        return f"<drover.Matrix {self.rows}x{self.cols}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Matrix):
            return NotImplemented
        return (self.rows, self.cols, list(self.data)) == (other.rows, other.cols, list(other.data))

    __hash__ = None  # type: ignore[assignment] # it changes

    def __getitem__(self, at: tuple[int, int]) -> Any:
        return self.data[self._index(at)]

    def __setitem__(self, at: tuple[int, int], value: Any) -> None:
        self.data[self._index(at)] = value

    def _index(self, at: tuple[int, int]) -> int:
        row, col = at
        if not (0 <= row < self.rows and 0 <= col < self.cols):
            raise IndexError(f"element {row}, {col} of {self.rows}x{self.cols}")
        return row * self.cols + col

    def tolist(self) -> list[list[Any]]:
        """Its rows."""
        return [list(self.data[i * self.cols : (i + 1) * self.cols]) for i in range(self.rows)]

    def view(self) -> memoryview:
        """Its elements as a buffer of two dimensions; not for empty or complex matrices."""
        if not isinstance(self.data, array.array) or not self.data:
            raise TypeError("a matrix that is empty or complex has no such view")
        return memoryview(self.data).cast("B").cast(self.data.typecode, (self.rows, self.cols))


def _refused(name: str, reason: str, message: str, accepted: str, hint: str = "") -> GridError:
    return GridError(reason, f"argument {name}: {message}", field="request.arguments." + name, accepted=accepted, hint=hint)


def block_of(name: str, value: Any) -> Optional[Block]:
    """The value of an argument as a block, None if its elements have no type, as in a
    list."""
    if isinstance(value, Matrix):
        if isinstance(value.data, list):
            return from_list(name, value.tolist(), "complex128", 2, (value.rows, value.cols))
        flat = block_of(name, value.data)
        assert flat is not None
        return Block(flat.content, flat.element, (value.rows, value.cols))
    if isinstance(value, (bytes, bytearray, str)):
        return None  # a file
    try:
        view = memoryview(value)
    except TypeError:
        return None
    if view.ndim == 0:
        return None  # a scalar of a library
    element = _element_of(view)
    if element is None:
        raise _refused(
            name, "wrong-type", f"elements of the format {view.format!r}", ", ".join(SIZES) + ", in this machine's order",
            hint="numpy's astype makes other elements of them",
        )
    if view.ndim not in (1, 2):
        raise _refused(name, "wrong-dimensions", f"{view.ndim} dimensions", "1 for a vector, 2 for a matrix")
    return Block(_bytes_of(view, element), element, view.shape)


def _element_of(view: memoryview) -> Optional[str]:
    """The type of a buffer's elements, None if it is not supported."""
    form = view.format or "B"
    order, code = (form[0], form[1:]) if form[0] in "@=<>!" else ("@", form)
    if view.itemsize > 1 and (order in ">!") != (sys.byteorder == "big") and order in "<>!":
        return None
    kinds = {("d", 8): "float64", ("f", 4): "float32", ("Zd", 16): "complex128", ("B", 1): "uint8"}
    if code in ("i", "l", "q"):  # their size depends on the machine
        return {8: "int64", 4: "int32"}.get(view.itemsize)
    return kinds.get((code, view.itemsize))


def _bytes_of(view: memoryview, element: str) -> memoryview:
    """The bytes of a buffer, row by row, without a copy if possible."""
    try:
        flat = view.cast("B")
    except (TypeError, ValueError):  # in another order, empty, or of a format that memoryview does not know
        flat = memoryview(view.tobytes())
    return _turned(flat, element)


def _turned(flat: memoryview, element: str) -> memoryview:
    """Converts between little-endian and native elements."""
    size = min(SIZES[element], 8)
    if sys.byteorder == "little" or size == 1:
        return flat
    turned = bytearray(flat)
    for i in range(size):
        turned[i::size] = flat[size - 1 - i :: size]
    return memoryview(turned)


def from_list(
    name: str, value: Sequence[Any], element: str, ndim: int, dimensions: Optional[Sequence[int]] = None
) -> Block:
    """A list of numbers, or of rows, as a block of elements of this type."""
    if dimensions is None:
        dimensions = [len(value)]
        if ndim == 2:
            rows = [row for row in value if isinstance(row, (list, tuple))]
            if len(rows) != len(value):
                raise _refused(name, "wrong-type", "a list that is no list of rows", "a list of lists, of one length")
            dimensions.append(len(rows[0]) if rows else 0)
            for i, row in enumerate(rows):
                if len(row) != dimensions[1]:
                    why = f"row {i} has {len(row)} elements, row 0 has {dimensions[1]}"
                    raise _refused(name, "wrong-dimensions", why, "rows of one length")
        elif any(isinstance(row, (list, tuple)) for row in value):
            raise _refused(name, "wrong-type", "a list of lists", "a list of numbers")
    flat: Iterable[Any] = (v for row in value for v in row) if ndim == 2 else value
    try:
        if element == "complex128":
            data = array.array("d", _parts(flat))
        else:
            data = array.array(_CODES[element], flat)
    except KeyError:
        raise _refused(name, "wrong-type", f"this client does not know elements of type {element!r}", ", ".join(SIZES)) from None
    except (TypeError, ValueError, OverflowError) as e:
        raise _refused(name, "wrong-type", str(e), f"numbers of type {element}") from e
    content = memoryview(data).cast("B") if data else memoryview(b"")
    return Block(_turned(content, element), element, dimensions)


def _parts(flat: Iterable[Any]) -> Iterator[float]:
    for v in flat:
        if isinstance(v, str):
            raise TypeError("must be a number, not str")
        c = complex(v)
        yield c.real
        yield c.imag


class Gathering:
    """Elements that arrive in pieces."""

    def __init__(self, element: str, dimensions: Sequence[int], size: int) -> None:
        count = math.prod(dimensions)
        self._element, self._dimensions = element, dimensions
        if element not in SIZES or len(dimensions) not in (1, 2) or min(dimensions) < 0 or count * SIZES[element] != size:
            raise GridError("internal", f"{size} bytes are no array of {element} with the dimensions {list(dimensions)}")
        complex = element == "complex128"
        code = "d" if complex else _CODES[element]
        self._data = array.array(code, [0]) * (2 * count if complex else count)
        self._bytes = memoryview(self._data).cast("B") if count else memoryview(bytearray())
        self._at = 0

    def add(self, piece: bytes) -> None:
        end = self._at + len(piece)
        if end > len(self._bytes):
            raise GridError("internal", f"more than {len(self._bytes)} bytes have come")
        self._bytes[self._at : end] = piece
        self._at = end

    def whole(self) -> Union[Vector, Matrix]:
        """The vector or matrix, when it is complete."""
        if self._at < len(self._bytes):
            raise GridError("internal", f"{self._at} bytes of {len(self._bytes)} have come", hint="fetch it again")
        if sys.byteorder == "big":
            self._data.byteswap()
        data: Vector = self._data
        if self._element == "complex128":
            data = [complex(re, im) for re, im in zip(self._data[::2], self._data[1::2])]
        if len(self._dimensions) == 2:
            return Matrix(self._dimensions[0], self._dimensions[1], data)
        return data
