"""One call to an agent or server, and what its failure means."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import struct
import time
import urllib.parse
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Optional

from . import detail
from .errors import ClosedError, GridError, Kind
from .scope import Scope

if TYPE_CHECKING:
    from .rpc import Wire

AGENT = "drover.v1.AgentService"
SERVER = "drover.v1.ServerService"

LARGEST_SENT = 4 << 20  # limit of agents and servers for one message, bytes
LARGEST_READ = 64 << 20  # limit of this client: 16 MiB of protobuf are larger in JSON
END = 2  # flag of the last message of a stream

# Codes of errors without a detail after which the call may have taken effect.
_SILENT = {"unavailable", "deadline_exceeded", "canceled", "internal", "unknown", "aborted", "data_loss"}

# The codes of HTTP statuses without an error in the body.
_CODES = {400: "internal", 401: "unauthenticated", 403: "permission_denied", 404: "unimplemented", 415: "unimplemented"}


class Call:
    """One call under way."""

    def __init__(self, wire: Wire, url: str, service: str, method: str) -> None:
        if wire.closed:
            raise ClosedError
        self.wire, self.url = wire, url
        self.who = "agent" if service == AGENT else "server"
        parts = urllib.parse.urlsplit(url)
        self.base = parts.netloc
        self.prefix = parts.path.rstrip("/")
        self.path = f"{self.prefix}/{service}/{method}"
        self.whole = False  # the answer was read to its end
        self.sent = False  # there was a connection on which something may have been sent

    def beside(self, path: str) -> str:
        """A path besides the services."""
        return self.prefix + path

    @contextlib.contextmanager
    def open(
        self, scope: Scope, limit: Optional[float], until: Optional[float]
    ) -> Iterator[http.client.HTTPConnection]:
        """Yields a connection; its failures become a GridError."""
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
        """Returns the beginning of a stream, or raises its error."""
        res = c.getresponse()
        if res.status != 200:
            raise self.refused(res.status, res.read(LARGEST_READ))
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
            if len(data) > LARGEST_READ:
                raise ValueError(f"an answer of more than {LARGEST_READ} bytes")
        self.keep(res)
        if res.status != 200:
            raise self.refused(res.status, bytes(data))
        if res.headers.get_content_type() != "application/json":
            raise self._stranger(f"it answers with {res.headers.get_content_type()}")
        return _object(bytes(data))

    def envelope(self, res: http.client.HTTPResponse) -> tuple[int, dict[str, Any]]:
        """Reads one message of a stream."""
        flags, size = struct.unpack(">BI", _exactly(res, 5))
        if flags & 1 or size > LARGEST_READ:
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
        return GridError("unreachable", f"{self.url} is not a Drover {self.who}: {why}", hint="check the URL")

    def refused(self, status: int, body: bytes) -> GridError:
        try:
            return self._error(_object(body))
        except (ValueError, KeyError, TypeError):
            code = _CODES.get(status, "unavailable" if status in (429, 502, 503, 504) else "unknown")
            return self._error({"code": code, "message": f"HTTP status {status}"})

    def plainly(self, status: int, body: bytes) -> GridError:
        """The error of a request for a file."""
        try:
            d = _object(body)
            reason, retryable = str(d["reason"]), bool(d.get("retryable", False))
            texts = {name: str(d.get(name, "")) for name in ("field", "accepted", "hint")}
            return GridError(reason, str(d.get("message", "")), retryable=retryable, kind=_kind(reason, retryable), **texts)
        except (ValueError, KeyError, TypeError):
            return self.refused(status, body)

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
    """What an error with a detail proves."""
    if reason == "unknown-job":
        return Kind.ABSENT
    if reason in ("internal", "timeout"):
        return Kind.SILENT  # did it take effect?
    return Kind.BUSY if retryable else Kind.REFUSED


def encode(message: dict[str, Any]) -> bytes:
    body = json.dumps(message, separators=(",", ":")).encode()
    if len(body) > 2 * LARGEST_SENT:
        raise GridError(
            "too-large", f"the message has {len(body)} bytes", accepted=f"at most {LARGEST_SENT}",
            hint="send large texts as files",
        )
    return body


def _object(data: bytes) -> dict[str, Any]:
    value = json.loads(data)
    if not isinstance(value, dict):
        raise ValueError("an answer that is not a JSON object")
    return value


def _exactly(res: http.client.HTTPResponse, size: int) -> bytes:
    data = res.read(size) if size else b""
    if len(data) != size:
        raise http.client.IncompleteRead(data, size - len(data))
    return data


def _watch_over(s: socket.socket) -> None:
    """Has the system notice a dead host on an idle connection."""
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in (("TCP_KEEPIDLE", 10), ("TCP_KEEPINTVL", 5), ("TCP_KEEPCNT", 2), ("TCP_USER_TIMEOUT", 20_000)):
        if hasattr(socket, name):
            s.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
