"""Refuses values of wrong types with an error of this package, before anything is sent.

The server checks ranges."""

from __future__ import annotations

import datetime
import math
import urllib.parse
from collections.abc import Iterable, Mapping
from typing import Any, Optional

from .errors import GridError


def wrong(field: str, value: Any, accepted: str) -> GridError:
    """The error of a value of a wrong type. It leaves out the value, which may be a secret."""
    return GridError("wrong-type", type(value).__name__, field=field, accepted=accepted)


_LONGEST = 4 << 20
"""Characters: no message has as many bytes."""


def text(field: str, value: Any, accepted: str = "a str") -> str:
    if not isinstance(value, str):
        raise wrong(field, value, accepted)
    if len(value) > _LONGEST:  # before it is copied
        raise GridError(
            "too-large", f"{len(value)} characters", field=field, accepted=f"at most {_LONGEST}", hint="send large texts as files"
        )
    try:
        value.encode()
    except UnicodeEncodeError:
        raise GridError("bad-value", repr(value), field=field, accepted="text that is Unicode") from None
    return value


def whole(field: str, value: Any, least: Optional[int] = None, accepted: str = "") -> int:
    """An int, which a bool is not."""
    accepted = accepted or ("" if least is None else f"{least} or more")
    if isinstance(value, bool) or not isinstance(value, int):
        raise wrong(field, value, "an int" + (", " + accepted if accepted else ""))
    if least is not None and value < least:
        raise GridError("out-of-range", str(value), field=field, accepted=accepted)
    return value


def number(field: str, value: Any, least: float = -math.inf) -> float:
    """A finite number."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise wrong(field, value, "a number")
    if not finite(value) or value < least:
        raise GridError("out-of-range", f"{value:.70}" if isinstance(value, float) else "an int", field=field, accepted="a finite number" if least == -math.inf else f"{least:g} or more")
    return value


def finite(value: float) -> bool:
    """Whether a float can hold the number."""
    try:
        return math.isfinite(value)
    except OverflowError:  # of an int
        return False


_EVER = 1e9
"""Seconds, about thirty years: the longest wait of Python's clocks."""


def timeout(value: Any) -> Optional[float]:
    """A time limit in seconds; None for none."""
    if value is None or value == math.inf:
        return None
    limit = number("timeout", value)
    return None if limit > _EVER else limit


def patience(field: str, value: Any, least: float = 0.0) -> float:
    """A patience, or the time limit of a call."""
    return min(number(field, value, least), _EVER)


def instant(field: str, value: Any) -> datetime.datetime:
    if not isinstance(value, datetime.datetime):
        raise wrong(field, value, "a datetime with a time zone")
    return value


def pairs(field: str, value: Any, accepted: str) -> Mapping[Any, Any]:
    if not isinstance(value, Mapping):
        raise wrong(field, value, accepted)
    return value


def items(field: str, value: Any, accepted: str) -> list[Any]:
    """The items of an iterable. A text is refused."""
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        raise wrong(field, value, accepted)
    return list(value)


def agents(given: Any) -> list[str]:
    """The URLs of agents. Errors do not show passwords."""
    accepted = "http://host:port"
    urls = [given] if isinstance(given, str) else items("agents", given, "URLs, as " + accepted)
    if not urls:
        raise GridError("bad-value", "none given", field="agents", accepted="at least one URL")
    for i, url in enumerate(urls):
        field = f"agents[{i}]"
        text(field, url, accepted)
        if "@" in url:
            raise GridError(
                "bad-value", repr(redacted(url)), field=field, accepted=accepted + ", without a user and a password"
            )
        try:
            parts = urllib.parse.urlsplit(url)
            good = parts.scheme == "http" and parts.hostname and (parts.port is None or parts.port > 0)
        except ValueError:
            good = False
        if not good:
            raise GridError("bad-value", repr(url), field=field, accepted=accepted)
    return urls


def redacted(url: str) -> str:
    """A URL without its password."""
    before, _, after = url.rpartition("@")
    scheme, found, _ = before.partition("//")
    return f"{scheme}//***@{after}" if found else f"***@{after}"
