"""Headers of NumPy's files of one array, .npy."""

from __future__ import annotations

import ast
import os
import struct
from collections.abc import Sequence
from typing import BinaryIO, Union

from .errors import FileError

_LARGEST = 1 << 16  # text of a header, bytes
_ELEMENTS = {
    "<f8": "float64", "<f4": "float32", "<i8": "int64", "<i4": "int32", "|u1": "uint8", "<c16": "complex128",
}


def is_npy(path: Union[str, "os.PathLike[str]"]) -> bool:
    """Whether a file name has their suffix."""
    return os.fspath(path).lower().endswith(".npy")


def header(element: str, dimensions: Sequence[int]) -> bytes:
    """The header of an array."""
    descr = next(d for d, e in _ELEMENTS.items() if e == element)
    text = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {tuple(dimensions)}, }}"
    text += " " * (-(10 + len(text) + 1) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()


def read(path: Union[str, "os.PathLike[str]"]) -> tuple[str, list[int], int]:
    """The element type and dimensions of a file, and the offset of its elements."""
    try:
        with open(path, "rb") as f:
            return _read(f)
    except OSError as e:
        raise FileError(f"file {os.path.basename(os.fspath(path))}: {e}") from e
    except (ValueError, TypeError, KeyError, SyntaxError, RecursionError, MemoryError, struct.error) as e:
        raise FileError(f"file {os.path.basename(os.fspath(path))} is no .npy file of a vector or matrix: {e}") from e


def _read(f: BinaryIO) -> tuple[str, list[int], int]:
    begin = f.read(8)
    if begin[:6] != b"\x93NUMPY" or len(begin) < 8:
        raise ValueError("it does not begin as one does")
    if begin[6] not in (1, 2, 3):
        raise ValueError(f"its format has version {begin[6]}, accepted: 1 to 3")
    size = struct.unpack("<H", f.read(2))[0] if begin[6] == 1 else struct.unpack("<I", f.read(4))[0]
    if size > _LARGEST:
        raise ValueError(f"its header has {size} bytes, accepted: at most {_LARGEST}")
    text = f.read(size)
    about = ast.literal_eval(text.decode("utf-8" if begin[6] == 3 else "latin-1").strip())
    element = _ELEMENTS.get(about["descr"])
    if element is None:
        raise ValueError(f"its elements are {about['descr']!r}, accepted: {', '.join(_ELEMENTS)}")
    shape = about["shape"]
    if not isinstance(shape, tuple) or len(shape) not in (1, 2) or not all(isinstance(n, int) and n >= 0 for n in shape):
        raise ValueError(f"its shape is {shape!r}, accepted: one or two dimensions")
    if about["fortran_order"] and len(shape) == 2 and min(shape) > 1:
        raise ValueError("it is in Fortran order, columns one after the other, accepted: rows (numpy.ascontiguousarray)")
    return element, list(shape), f.tell()
