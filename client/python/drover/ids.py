"""IDs made by clients: lower-case UUIDs of version 7."""

from __future__ import annotations

import re
import secrets
import time
from typing import Any

from . import check
from .errors import GridError

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_UUID7 = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")


def new_id() -> str:
    """Makes an ID, which begins with the time."""
    n = time.time_ns() // 1_000_000 << 80 | 7 << 76 | secrets.randbits(12) << 64 | 2 << 62 | secrets.randbits(62)
    h = f"{n:032x}"
    return "-".join((h[:8], h[8:12], h[12:16], h[16:20], h[20:]))


def job_id_of(field: str, job: Any) -> str:
    """The ID of a job, given as a job or an ID."""
    id = getattr(job, "id", job)
    if not isinstance(id, str):
        raise check.wrong(field, job, "a job, or its ID")
    if not _UUID.fullmatch(id):
        raise GridError("bad-value", repr(id[:70]), field=field, accepted="the ID of a job, as submit returns it")
    return id


def is_id(text: str) -> bool:
    """Whether a text is an ID."""
    return _UUID7.fullmatch(text) is not None
