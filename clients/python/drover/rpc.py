"""Calls agents and servers: the Connect protocol, JSON over HTTP/1.1.

``docs/http.md`` describes it. A message of a stream is preceded by five bytes: its
flags, and its size as four bytes, the highest first. The last one of an answer has
flag 2 and holds the error, if there is one.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import math
import select
import socket
import struct
import threading
import time
import urllib.parse
from collections.abc import Iterable, Iterator
from typing import Any, Optional

from . import detail
from .errors import GridError, Kind
from .scope import Scope

AGENT = "drover.v1.AgentService"
SERVER = "drover.v1.ServerService"

LARGEST_SENT = 4 << 20  # what agents and servers read of one message, bytes
_LARGEST_READ = 64 << 20  # what this client does: 16 MiB of protobuf are more in JSON
_IDLE = 60.0  # a connection that was not used for so long is not used again, seconds
_END = 2  # flag of the last message of a stream

# By the code of an error without a detail: those after which something may have
# been done.
_SILENT = {"unavailable", "deadline_exceeded", "canceled", "internal", "unknown", "aborted", "data_loss"}

# What a status without a body of ours means.
_CODES = {400: "internal", 401: "unauthenticated", 403: "permission_denied", 404: "unimplemented", 415: "unimplemented"}


class Wire:
    """Connections to agents and servers, for any number of threads."""

    def __init__(self, dial: float) -> None:
        self.dial = dial  # how long a connection may take to be made, seconds
        self._lock = threading.Lock()
        self._idle: dict[str, list[tuple[float, http.client.HTTPConnection]]] = {}

    def close(self) -> None:
        """Closes the connections that nobody uses."""
        with self._lock:
            idle, self._idle = self._idle, {}
        for connections in idle.values():
            for _, c in connections:
                c.close()

    def call(
        self, url: str, service: str, method: str, message: dict[str, Any], scope: Scope, timeout: float
    ) -> dict[str, Any]:
        """Makes a call that is answered by one message."""
        scope.check()
        limit = scope.least(timeout) or 0.001
        until = time.monotonic() + limit
        call = _Call(self, url, service, method)
        body = _encode(message)
        with call.open(scope, limit, until) as c:
            headers = {"Content-Type": "application/json", "Connect-Protocol-Version": "1"}
            headers["Connect-Timeout-Ms"] = str(max(math.ceil(limit * 1000), 1))
            c.request("POST", call.path, body, headers)
            return call.answer(c, until)

    def stream(
        self, url: str, service: str, method: str, message: dict[str, Any], scope: Scope, within: Optional[float] = None
    ) -> Iterator[dict[str, Any]]:
        """Makes a call that is answered by a stream of messages.

        Between messages there may be any time; ``within`` bounds the first.
        """
        scope.check()
        body = _encode(message)
        call = _Call(self, url, service, method)
        limit = scope.least(within)
        with call.open(scope, limit, None if limit is None else time.monotonic() + limit) as c:
            sock = c.sock
            c.request("POST", call.path, struct.pack(">BI", 0, len(body)) + body, _STREAM)
            res = call.response(c)
            while True:
                flags, data = call.envelope(res)
                if flags & _END:
                    break
                yield data
                left = scope.remaining()
                sock.settimeout(left if left is None else max(left, 0.001))
            call.ended(data)
            call.keep(res)

    def upload(
        self, url: str, service: str, method: str, messages: Iterable[dict[str, Any]], scope: Scope
    ) -> dict[str, Any]:
        """Makes a call that sends a stream of messages and is answered by one."""
        scope.check()
        call = _Call(self, url, service, method)
        with call.open(scope, scope.remaining(), None) as c:
            pieces = (struct.pack(">BI", 0, len(body)) + body for body in map(_encode, messages))
            try:
                c.request("POST", call.path, pieces, _CHUNKED, encode_chunked=True)
            except OSError as e:
                # A server that refuses says why and reads no further.
                try:
                    res = call.response(c)
                except (OSError, http.client.HTTPException):
                    raise e from None
            else:
                res = call.response(c)
            flags, data = call.envelope(res)
            if not flags & _END:
                call.ended(call.envelope(res)[1])
                call.keep(res)
                return data
            call.ended(data)
            raise call.silent("an answer without a message")

    def arrived(self, url: str, sha256: str, size: int, scope: Scope, timeout: float) -> Optional[tuple[bool, int]]:
        """Whether a server has some content, and how many bytes of its beginning; None
        when it cannot tell."""
        scope.check()
        call = _Call(self, url, SERVER, "")
        limit = scope.least(timeout) or 0.001
        with call.open(scope, limit, None) as c:
            c.request("HEAD", call.beside(f"/v1/content/{sha256}?size={size}"))
            res = c.getresponse()
            res.read()
            call.keep(res)
            if res.status == 200:
                return True, size
            offset = res.headers.get("Upload-Offset")
            return (False, min(int(offset), size)) if res.status == 404 and offset else None

    def send(self, url: str, sha256: str, size: int, offset: int, pieces: Iterable[bytes], scope: Scope) -> None:
        """Sends content from an offset on."""
        scope.check()
        call = _Call(self, url, SERVER, "")
        headers = {"Content-Type": "application/octet-stream", "Content-Length": str(size - offset)}
        if offset:
            headers["Content-Range"] = f"bytes {offset}-{size - 1}/{size}"
        with call.open(scope, scope.remaining(), None) as c:
            try:
                c.request("PUT", call.beside(f"/v1/content/{sha256}"), pieces, headers)
            except OSError as e:
                # A server that refuses says why and reads no further.
                try:
                    res = c.getresponse()
                except (OSError, http.client.HTTPException):
                    raise e from None
            else:
                res = c.getresponse()
            answer = res.read(_LARGEST_READ)
            call.keep(res)
            if res.status not in (200, 201):
                raise call.plainly(res.status, answer)

    def fetch(self, url: str, path: str, offset: int, scope: Scope) -> Iterator[bytes]:
        """A file of a server from an offset on, in pieces; NoPlain when it has no such
        paths."""
        scope.check()
        call = _Call(self, url, SERVER, "")
        with call.open(scope, scope.remaining(), None) as c:
            c.request("GET", call.beside(path), headers={"Range": f"bytes={offset}-"} if offset else {})
            res = c.getresponse()
            if res.status == 416 and res.headers.get("Content-Range") == f"bytes */{offset}":
                return  # there is no more of it
            if res.status != (206 if offset else 200):
                answer = res.read(_LARGEST_READ)
                if res.headers.get_content_type() != "application/json" and res.status in (404, 405, 501):
                    raise NoPlain
                raise call.plainly(res.status, answer)
            left = int(res.headers["Content-Length"])
            while left:
                piece = res.read(min(left, 1 << 18))
                if not piece:
                    raise http.client.IncompleteRead(b"", left)
                left -= len(piece)
                yield piece
            call.keep(res)

    def take(self, base: str) -> Optional[http.client.HTTPConnection]:
        """Returns a connection that is open and idle, if there is one."""
        while True:
            with self._lock:
                connections = self._idle.get(base)
                if not connections:
                    return None
                since, c = connections.pop()
            # What can be read from an idle connection is its end.
            if time.monotonic() - since < _IDLE and c.sock is not None and not select.select([c.sock], [], [], 0)[0]:
                return c
            c.close()

    def put(self, base: str, c: http.client.HTTPConnection) -> None:
        """Takes a connection back."""
        with self._lock:
            self._idle.setdefault(base, []).append((time.monotonic(), c))


_STREAM = {"Content-Type": "application/connect+json", "Connect-Protocol-Version": "1"}
_CHUNKED = {**_STREAM, "Transfer-Encoding": "chunked"}


class NoPlain(Exception):
    """A server that gives and takes files by calls alone."""


class _Call:
    """One call under way, and what is known of it."""

    def __init__(self, wire: Wire, url: str, service: str, method: str) -> None:
        self.wire, self.url = wire, url
        self.who = "agent" if service == AGENT else "server"
        parts = urllib.parse.urlsplit(url)
        self.base = parts.netloc
        self.prefix = parts.path.rstrip("/")
        self.path = f"{self.prefix}/{service}/{method}"
        self.whole = False  # the answer was read to its end
        self.sent = False  # there was a connection on which something may have been sent

    def beside(self, path: str) -> str:
        """The path of something that is no call."""
        return self.prefix + path

    @contextlib.contextmanager
    def open(
        self, scope: Scope, limit: Optional[float], until: Optional[float]
    ) -> Iterator[http.client.HTTPConnection]:
        """Gives a connection; what fails with it becomes a GridError."""
        c = self.wire.take(self.base)
        try:
            if c is None:
                c = http.client.HTTPConnection(self.base, timeout=scope.least(self.wire.dial))
                c.connect()
                _watch_over(c.sock)
            self.sent = True
            sock = c.sock
            sock.settimeout(limit)
            with scope.watching(sock):
                yield c
        except (OSError, http.client.HTTPException, ValueError, KeyError, TypeError) as e:
            scope.check()  # it may have been the caller's end
            if isinstance(e, socket.timeout) and self.sent:
                raise self._late() from e
            raise self._broken(e) from e
        finally:
            if c is not None and self.whole and c.sock is not None:
                self.wire.put(self.base, c)
            elif c is not None:
                c.close()

    def response(self, c: http.client.HTTPConnection) -> http.client.HTTPResponse:
        """Returns the beginning of a stream, or raises the error that came in its place."""
        res = c.getresponse()
        if res.status != 200:
            raise self._refused(res.status, res.read(_LARGEST_READ))
        if not res.headers.get_content_type().startswith("application/connect+"):
            raise self._stranger(f"it answers with {res.headers.get_content_type()}")
        return res

    def answer(self, c: http.client.HTTPConnection, until: float) -> dict[str, Any]:
        """Returns the only message of an answer."""
        res = c.getresponse()
        data = bytearray()
        while True:
            if c.sock is not None:
                c.sock.settimeout(max(until - time.monotonic(), 0.001))
            part = res.read(1 << 16)
            if not part:
                break
            data += part
            if len(data) > _LARGEST_READ:
                raise ValueError(f"an answer of more than {_LARGEST_READ} bytes")
        self.keep(res)
        if res.status != 200:
            raise self._refused(res.status, bytes(data))
        if res.headers.get_content_type() != "application/json":
            raise self._stranger(f"it answers with {res.headers.get_content_type()}")
        return _object(bytes(data))

    def envelope(self, res: http.client.HTTPResponse) -> tuple[int, dict[str, Any]]:
        """Reads one message of a stream."""
        flags, size = struct.unpack(">BI", _exactly(res, 5))
        if flags & 1 or size > _LARGEST_READ:
            raise ValueError(f"a message of {size} bytes with flags {flags}")
        return flags, _object(_exactly(res, size))

    def ended(self, end: dict[str, Any]) -> None:
        """Raises the error with which a stream has ended, if there is one."""
        if "error" in end:
            raise self._error(end["error"])

    def keep(self, res: http.client.HTTPResponse) -> None:
        """Notes that the connection can be used again, if it was read to its end."""
        if not res.isclosed():
            res.read(1)  # the chunk of size 0
        self.whole = res.isclosed() and not res.will_close

    def silent(self, cause: str) -> GridError:
        return GridError(
            "unreachable", f"the connection to {self.who} {self.url} broke: {cause}", retryable=True,
            hint="is it running, and is this its URL?", kind=Kind.SILENT,
        )

    def _late(self) -> GridError:
        return GridError(
            "timeout", f"no answer from {self.who} {self.url} in time", retryable=True,
            hint="it is reachable, but slow or stuck; try again", kind=Kind.SILENT,
        )

    def _broken(self, e: BaseException) -> GridError:
        if self.sent:
            return self.silent(str(e) or type(e).__name__)
        return GridError(
            "unreachable", f"no connection to {self.who} {self.url}: {e}", retryable=True,
            hint="is it running, and is this its URL?", kind=Kind.UNSENT,
        )

    def _stranger(self, why: str) -> GridError:
        return GridError("unreachable", f"{self.url} is no Drover {self.who}: {why}", hint="check the URL")

    def _refused(self, status: int, body: bytes) -> GridError:
        try:
            return self._error(_object(body))
        except (ValueError, KeyError, TypeError):
            code = _CODES.get(status, "unavailable" if status in (429, 502, 503, 504) else "unknown")
            return self._error({"code": code, "message": f"HTTP status {status}"})

    def plainly(self, status: int, body: bytes) -> GridError:
        """The error of a request that is no call."""
        try:
            d = _object(body)
            reason, retryable = str(d["reason"]), bool(d.get("retryable", False))
            texts = {name: str(d.get(name, "")) for name in ("field", "accepted", "hint")}
            return GridError(reason, str(d.get("message", "")), retryable=retryable, kind=_kind(reason, retryable), **texts)
        except (ValueError, KeyError, TypeError):
            return self._refused(status, body)

    def _error(self, error: dict[str, Any]) -> GridError:
        code, message = error["code"], error.get("message", "")
        for d in error.get("details", ()):
            if d.get("type") == detail.TYPE:
                fields = detail.decode(d["value"])
                reason = fields.pop("reason", "")
                kind = _kind(reason, fields.get("retryable", False))
                return GridError(reason, fields.pop("message", message), kind=kind, **fields)
        if code in _SILENT:
            return self._late() if code == "deadline_exceeded" else self.silent(message or code)
        if code in ("unimplemented", "not_found"):
            return self._stranger(message or code)
        return GridError("bad-value", f"{self.who} {self.url} refused the call: {message or code}")


def _kind(reason: str, retryable: bool) -> Kind:
    """What an answer with a detail proves."""
    if reason == "unknown-job":
        return Kind.ABSENT
    if reason in ("internal", "timeout"):
        return Kind.SILENT  # before or after it took effect?
    return Kind.BUSY if retryable else Kind.REFUSED


def _encode(message: dict[str, Any]) -> bytes:
    body = json.dumps(message, separators=(",", ":")).encode()
    if len(body) > 2 * LARGEST_SENT:
        raise GridError(
            "too-large", f"the message has {len(body)} bytes", accepted=f"at most {LARGEST_SENT}",
            hint="large texts had better be files",
        )
    return body


def _object(data: bytes) -> dict[str, Any]:
    value = json.loads(data)
    if not isinstance(value, dict):
        raise ValueError("an answer that is no JSON object")
    return value


def _exactly(res: http.client.HTTPResponse, size: int) -> bytes:
    data = res.read(size) if size else b""
    if len(data) != size:
        raise http.client.IncompleteRead(data, size - len(data))
    return data


def _watch_over(s: socket.socket) -> None:
    """Has the system notice a host that is gone, also while nothing is said."""
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in (("TCP_KEEPIDLE", 10), ("TCP_KEEPINTVL", 5), ("TCP_KEEPCNT", 2), ("TCP_USER_TIMEOUT", 20_000)):
        if hasattr(socket, name):
            s.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
