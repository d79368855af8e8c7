"""Files that are replaced only by complete ones."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator, Sequence
from typing import BinaryIO, Union

from . import check, npy
from .errors import FileError

Path = Union[str, "os.PathLike[str]"]


@contextlib.contextmanager
def replaced(path: Path) -> Iterator[BinaryIO]:
    """A file that replaces the one at path when it is complete."""
    if not isinstance(path, (str, os.PathLike)):
        raise check.wrong("path", path, "a path")
    if why := unnameable(path):
        raise FileError(f"file {os.fspath(path)!r}: {why}")
    folder, name = os.path.split(os.path.abspath(os.fspath(path)))
    try:
        with tempfile.NamedTemporaryFile(dir=folder, prefix=f".{name}.", delete=False) as f:
            try:
                yield f  # type: ignore[misc]
                f.flush()
                os.chmod(f.name, 0o644)
                os.replace(f.name, path)
            except BaseException:
                os.unlink(f.name)
                raise
    except TimeoutError:  # from the caller's code
        raise
    except OSError as e:
        raise FileError(f"file {os.fspath(path)}: {e}") from e


def unnameable(path: Path) -> str:
    """Why this is not a valid file name, "" if it is."""
    try:
        return "a null in the name" if b"\0" in os.fsencode(path) else ""
    except UnicodeEncodeError:
        return "the name is not Unicode"


def check_place(field: str, argument: str, path: object) -> None:
    """Refuses a path that cannot be written, as far as that is known in advance."""
    if not isinstance(path, (str, os.PathLike)):
        raise check.wrong(field, path, "an Output with a path")
    whole = os.path.abspath(os.fspath(path))
    folder = os.path.dirname(whole)
    if unnameable(path):
        why = unnameable(path)
    elif os.path.isdir(whole) or not os.fspath(path):
        why = "a directory, accepted: a file"
    elif not os.path.isdir(folder):
        why = f"there is no directory {folder!r}"
    elif not os.access(folder, os.W_OK | os.X_OK):
        why = f"no file can be put into {folder!r}"
    else:
        return
    raise FileError(f"output {argument}: {os.fspath(path)!r}: {why}")


def header(path: Path, element: str, dimensions: Sequence[int]) -> bytes:
    """The header of a vector or matrix in a file with this name."""
    return npy.header(element, dimensions) if element and npy.is_npy(path) else b""
