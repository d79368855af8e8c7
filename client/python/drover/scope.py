"""Deadlines of calls, and how another thread ends them."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Iterator
from typing import Optional


class Stopped(Exception):
    """Another thread has ended the call."""


class Scope:
    """The time limit of a caller, over consecutive calls."""

    def __init__(self, timeout: Optional[float] = None) -> None:
        self._end = None if timeout is None else time.monotonic() + timeout
        self._stopped = threading.Event()
        self._lock = threading.Lock()
        self._sockets: set[socket.socket] = set()

    def remaining(self) -> Optional[float]:
        """Remaining seconds, None without a limit."""
        return None if self._end is None else max(self._end - time.monotonic(), 0.0)

    def least(self, timeout: Optional[float]) -> Optional[float]:
        """The smaller of the remaining time and timeout; None is unlimited."""
        left = self.remaining()
        if left is None or timeout is None:
            return timeout if left is None else left
        return min(left, timeout)

    def check(self) -> None:
        """Raises if no time is left, or the call was ended."""
        if self._stopped.is_set():
            raise Stopped
        if self.remaining() == 0:
            raise TimeoutError("the time given for it is over")

    def pause(self, seconds: float) -> None:
        """Waits, at most for the remaining time."""
        limit = self.least(max(seconds, 0.0))
        self._stopped.wait(limit)
        self.check()

    def stop(self) -> None:
        """Ends the call from another thread."""
        self._stopped.set()
        with self._lock:
            for s in self._sockets:
                _shut(s)

    @contextlib.contextmanager
    def watching(self, s: socket.socket) -> Iterator[None]:
        """Has stop wake the reader of a socket."""
        with self._lock:
            self._sockets.add(s)
        if self._stopped.is_set():
            _shut(s)
        try:
            yield
        finally:
            with self._lock:
                self._sockets.discard(s)


def _shut(s: socket.socket) -> None:
    with contextlib.suppress(OSError):  # it is closed already
        s.shutdown(socket.SHUT_RDWR)
