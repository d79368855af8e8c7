"""Reads the ErrorDetail of an error, which crosses the wire as protobuf in base64."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any, Union

TYPE = "drover.v1.ErrorDetail"

_TEXTS = {1: "reason", 2: "field", 3: "accepted", 4: "message", 5: "hint"}


def decode(value: str) -> dict[str, Any]:
    """Returns the fields that are set; raises ValueError for an invalid detail."""
    raw = base64.b64decode(value + "=" * (-len(value) % 4))
    out: dict[str, Any] = {}
    for number, content in _fields(raw):
        if number in _TEXTS and isinstance(content, bytes):
            out[_TEXTS[number]] = content.decode()
        elif number == 6:
            out["retryable"] = bool(content)
        elif number == 7 and isinstance(content, bytes):
            out["offer"] = _offer(content)
    return out


def _offer(raw: bytes) -> dict[str, Any]:
    out: dict[str, Any] = {"site": "", "wait": 0.0, "completion": 0.0, "width": 0}
    for number, content in _fields(raw):
        if number == 1 and isinstance(content, bytes):
            out["site"] = content.decode()
        elif number in (2, 3) and isinstance(content, bytes):
            parts = dict(_fields(content))
            out["wait" if number == 2 else "completion"] = int(parts.get(1, 0)) + int(parts.get(2, 0)) / 1e9
        elif number == 4:
            out["width"] = content
    return out


def _fields(raw: bytes) -> Iterator[tuple[int, Union[int, bytes]]]:
    """The fields of a message: numbers, and bytes for all other types."""
    at = 0
    while at < len(raw):
        tag, at = _varint(raw, at)
        wire = tag & 7
        if wire == 0:
            value, at = _varint(raw, at)
            yield tag >> 3, value
            continue
        if wire == 2:
            size, at = _varint(raw, at)
        elif wire in (1, 5):
            size = 8 if wire == 1 else 4
        else:
            raise ValueError(f"wire type {wire}")
        if at + size > len(raw):
            raise ValueError("a field exceeds the message")
        yield tag >> 3, raw[at : at + size]
        at += size


def _varint(raw: bytes, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(raw):
            break
        value |= (raw[at] & 0x7F) << shift
        at += 1
        if raw[at - 1] < 0x80:
            return value, at
    raise ValueError("an endless number")
