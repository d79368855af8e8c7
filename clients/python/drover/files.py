"""Files that are replaced by whole ones only."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator, Sequence
from typing import BinaryIO, Union

from . import npy

Path = Union[str, "os.PathLike[str]"]


@contextlib.contextmanager
def replaced(path: Path) -> Iterator[BinaryIO]:
    """A file that replaces the one at path when all of it was written."""
    folder, name = os.path.split(os.path.abspath(os.fspath(path)))
    with tempfile.NamedTemporaryFile(dir=folder, prefix=f".{name}.", delete=False) as f:
        try:
            yield f  # type: ignore[misc]
            f.flush()
            os.chmod(f.name, 0o644)
            os.replace(f.name, path)
        except BaseException:
            os.unlink(f.name)
            raise


def header(path: Path, element: str, dimensions: Sequence[int]) -> bytes:
    """What stands before the elements of a vector or matrix in a file of this name."""
    return npy.header(element, dimensions) if element and npy.is_npy(path) else b""
