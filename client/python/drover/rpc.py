"""Calls agents and servers: the Connect protocol, JSON over HTTP/1.1.

``docs/http.md`` describes it. A message of a stream is preceded by five bytes: its
flags, and its size as four bytes, the highest first. The last one of an answer has
flag 2 and holds the error, if there is one.
"""

from __future__ import annotations

import http.client
import math
import select
import struct
import threading
import time
from collections.abc import Iterable, Iterator
from typing import Any, Optional

from .call import END, LARGEST_READ, SERVER, Call, encode
from .scope import Scope

_IDLE = 60.0  # idle time after which a connection is not reused, seconds


class Wire:
    """Connections to agents and servers, for any number of threads."""

    def __init__(self, dial: float) -> None:
        self.dial = dial  # time limit of a connection, seconds
        self.closed = False
        self._lock = threading.Lock()
        self._idle: dict[str, list[tuple[float, http.client.HTTPConnection]]] = {}

    def close(self) -> None:
        """Closes idle connections, and allows no new ones."""
        self.closed = True
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
        call = Call(self, url, service, method)
        body = encode(message)
        with call.open(scope, limit, until) as c:
            headers = {"Content-Type": "application/json", "Connect-Protocol-Version": "1"}
            headers["Connect-Timeout-Ms"] = str(max(math.ceil(limit * 1000), 1))
            c.request("POST", call.path, body, headers)
            return call.answer(c, until)

    def stream(
        self, url: str, service: str, method: str, message: dict[str, Any], scope: Scope, within: Optional[float] = None
    ) -> Iterator[dict[str, Any]]:
        """Makes a call that is answered by a stream of messages.

        ``within`` bounds the time until the first message.
        """
        scope.check()
        body = encode(message)
        call = Call(self, url, service, method)
        limit = scope.least(within)
        with call.open(scope, limit, None if limit is None else time.monotonic() + limit) as c:
            sock = c.sock
            c.request("POST", call.path, struct.pack(">BI", 0, len(body)) + body, _STREAM)
            res = call.response(c)
            while True:
                flags, data = call.envelope(res)
                if flags & END:
                    break
                yield data
                left = scope.remaining()
                sock.settimeout(left if left is None else max(left, 0.001))
            call.ended(data)
            call.keep(res)

    def arrived(self, url: str, sha256: str, size: int, scope: Scope, timeout: float) -> tuple[bool, int]:
        """Whether a server has all of some content, and how many bytes of its beginning."""
        scope.check()
        call = Call(self, url, SERVER, "")
        limit = scope.least(timeout) or 0.001
        with call.open(scope, limit, None) as c:
            c.request("HEAD", call.beside(f"/v1/content/{sha256}?size={size}"))
            res = c.getresponse()
            res.read()
            call.keep(res)
            if res.status == 200:
                return True, size
            offset = res.headers.get("Upload-Offset")
            if res.status != 404 or not offset:
                raise call.refused(res.status, b"")
            return False, min(int(offset), size)

    def send(self, url: str, sha256: str, size: int, offset: int, pieces: Iterable[bytes], scope: Scope) -> None:
        """Sends content from an offset on."""
        scope.check()
        call = Call(self, url, SERVER, "")
        headers = {"Content-Type": "application/octet-stream", "Content-Length": str(size - offset)}
        if offset:
            headers["Content-Range"] = f"bytes {offset}-{size - 1}/{size}"
        with call.open(scope, scope.remaining(), None) as c:
            try:
                c.request("PUT", call.beside(f"/v1/content/{sha256}"), pieces, headers)
            except OSError as e:
                # A server that refuses answers before it has read everything.
                try:
                    res = c.getresponse()
                except (OSError, http.client.HTTPException):
                    raise e from None
            else:
                res = c.getresponse()
            answer = res.read(LARGEST_READ)
            call.keep(res)
            if res.status not in (200, 201):
                raise call.plainly(res.status, answer)

    def fetch(self, url: str, path: str, offset: int, scope: Scope) -> Iterator[bytes]:
        """A file of a server from an offset on, in pieces."""
        scope.check()
        call = Call(self, url, SERVER, "")
        with call.open(scope, scope.remaining(), None) as c:
            c.request("GET", call.beside(path), headers={"Range": f"bytes={offset}-"} if offset else {})
            res = c.getresponse()
            if res.status == 416 and res.headers.get("Content-Range") == f"bytes */{offset}":
                return  # the content ends here
            if res.status != (206 if offset else 200):
                answer = res.read(LARGEST_READ)
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
            # A readable idle connection has ended.
            if time.monotonic() - since < _IDLE and c.sock is not None and not select.select([c.sock], [], [], 0)[0]:
                return c
            c.close()

    def put(self, base: str, c: http.client.HTTPConnection) -> None:
        """Takes a connection back."""
        with self._lock:
            if not self.closed:
                self._idle.setdefault(base, []).append((time.monotonic(), c))
                return
        c.close()


_STREAM = {"Content-Type": "application/connect+json", "Connect-Protocol-Version": "1"}
