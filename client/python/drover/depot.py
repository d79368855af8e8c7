"""Data of a client: put, get, list, remove."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterator
from typing import Any, Optional, TypeVar, Union

from . import check, npy
from .arrays import Gathering, Matrix, Vector, block_of
from .data import Data, data_in, handle_of, mode_out
from .driver import Driver
from .errors import DroverError, GridError, Kind
from .files import header, replaced
from .grid import Raw
from .ids import is_id, new_id
from .scope import Scope
from .pursuit import Inquiry, Target, Verb
from .supply import copy
from .values import Content

T = TypeVar("T")


class Depot(Driver):
    """The data methods of a client."""

    owner: str

    def put_data(
        self,
        source: Any,
        *,
        site: str = "",
        mode: str = "persistent",
        name: str = "",
        owner: str = "",
        id: str = "",
    ) -> Data:
        """Stores content at a site (by default the one with the most free space):
        bytes, the file of a ``pathlib.Path``, or a vector or matrix (a ``.npy`` file, a
        ``Matrix``, or what has the buffer protocol).

        ``volatile`` data is removed when the first job that used it has ended; ``sticky``
        data stays until it is removed, at this site only; ``persistent`` data until it is
        removed or evicted. With the reason ``unknown`` the data was sent and not answered:
        repeating the call with the same ``id`` and site finds out.
        """
        for field, value in (("site", site), ("name", name), ("owner", owner), ("id", id)):
            check.text(field, value)
        raw: Raw = {"id": id or new_id(), "mode": mode_out("mode", mode)}
        if not is_id(raw["id"]):
            raise GridError("bad-value", repr(id), field="id", accepted="a lower-case UUIDv7, or none")
        content = _content(source)
        raw["content"] = {"sha256": content.sha256, "sizeBytes": str(content.size), "name": name or content.name}
        if content.array is not None:
            raw["element"], raw["dimensions"] = "ELEMENT_TYPE_" + content.array[0].upper(), [str(n) for n in content.array[1]]
        if owner or self.owner:
            raw["owner"] = owner or self.owner
        last: Optional[GridError] = None
        for at in self._depots(site, content.size):
            try:
                return self._put_at(at, raw, content)
            except GridError as e:
                if e.reason in ("unknown", "data-conflict", "bad-value"):
                    raise
                last = e
        assert last is not None
        raise last

    def get_data(self, data: Union[Data, str], path: Union[str, "os.PathLike[str]", None] = None) -> bytes:
        """The content of data, verified. With a path it is saved there when complete (a
        vector or matrix with NumPy's header if the path ends in ``.npy``), and the result
        is empty. It resumes after a broken connection."""
        if path is None:
            return b"".join(self.stream_data(data))
        known = self._known(data if isinstance(data, Data) else Data(data))
        with replaced(path) as f:
            f.write(header(path, known.element, known.dimensions))
            for piece in self.stream_data(known):
                f.write(piece)
        return b""

    def get_array(self, data: Union[Data, str]) -> Union[Vector, Matrix]:
        """A vector or matrix: an ``array.array`` (a list of complex numbers), or a
        ``Matrix``."""
        known = self._known(data if isinstance(data, Data) else Data(data))
        if not known.element:
            raise GridError("wrong-type", f"data {known.id} are a file", field="data_id", accepted="a vector or matrix", hint="get_data brings files")
        into = Gathering(known.element, known.dimensions, known.size)
        for piece in self.stream_data(known):
            into.add(piece)
        return into.whole()

    def stream_data(self, data: Union[Data, str]) -> Iterator[bytes]:
        """The content of data in pieces. It is complete and verified when the iterator ends
        without an error."""
        id, at, digest = handle_of(data), 0, hashlib.sha256()
        since, pause = time.monotonic(), 0.2
        while True:
            last: Optional[GridError] = None
            for d, url in self._located(id):
                before = at
                try:
                    for piece in self._data(url, id, at):
                        at += len(piece)
                        digest.update(piece)
                        yield piece
                    if at == d.size and digest.hexdigest() == d.sha256:
                        return
                    why = f"data {id} from site {d.site} have {at} bytes and checksum {digest.hexdigest()}, expected {d.size} and {d.sha256}"
                    if at >= d.size:
                        raise GridError("internal", why, field="sha256", hint="get it again")
                    last = GridError("unreachable", why, retryable=True, kind=Kind.SILENT)
                except GridError as e:
                    if e.kind is Kind.REFUSED and e.reason != "unknown-data":
                        raise
                    last = e
                if at > before:
                    since, pause = time.monotonic(), 0.2
            if last is None or time.monotonic() - since >= self.long_patience:
                raise last or _no_site(id)
            Scope().pause(pause)
            pause = min(2 * pause, 5.0)

    def find_data(self, data: Union[Data, str]) -> list[Data]:
        """The sites that have data, originals before copies."""
        return [d for d, _ in self._located(handle_of(data))]

    def list_data(self, filter: str = "") -> list[Data]:
        """The data of all sites; ``filter`` is terms key=value, of the keys id (a
        beginning), owner, mode, name and site, separated by spaces."""
        return [data_in(d) for d in self._pages("ListData", "data", {"filter": check.text("filter", filter)})]

    def remove_data(self, data: Union[Data, str]) -> list[str]:
        """Removes data from all sites, and returns the sites that had it. Accepted jobs keep
        what they use."""
        message = {"id": handle_of(data)}
        return list(self._retry(lambda agent: self._ask(agent, "RemoveData", message)).get("sites", ()))

    def copy_data(self, data: Union[Data, str], site: str) -> Data:
        """Copies data to another site ahead of a request."""
        return copy(self, self._address(site), handle_of(data), Scope())

    def _located(self, id: str) -> list[tuple[Data, str]]:
        answer = self._retry(lambda agent: self._ask(agent, "FindData", {"id": id}))
        return [(data_in(d["data"]), d["address"]) for d in answer.get("data", ())]

    def _known(self, data: Data) -> Data:
        """The description of data."""
        handle_of(data)
        if data.sha256:
            return data
        found = self._located(data.id)
        if not found:
            raise _no_site(data.id)
        return found[0][0]

    def _data(self, url: str, id: str, offset: int) -> Iterator[bytes]:
        return self._wire.fetch(url, f"/v1/data/{id}", offset, Scope())

    def _depots(self, site: str, size: int) -> list[Target]:
        """The sites to try, in order."""
        if site:
            return [Target(site, self._address(site))]
        fitting: list[tuple[int, str, str]] = []
        for k in self._pages("ListSites", "sites", {}):
            status, about = k.get("status", {}), k["site"]
            usage = status.get("data", {})
            quota, used = int(usage.get("quotaBytes", 0)), int(usage.get("usedBytes", 0))
            largest = int(about.get("limits", {}).get("fileBytes", 0))
            away = status.get("draining") or status.get("degraded")
            if quota and quota >= size and not away and (not largest or largest >= size):
                fitting.append((-max(quota - used, 0), about["name"], about["address"]))
        if not fitting:
            raise GridError("no-site", f"no site that is up can store data of {size} bytes", field="site", retryable=True, kind=Kind.BUSY)
        return [Target(name, address) for _, name, address in sorted(fitting)]

    def _address(self, site: str) -> str:
        for k in self._pages("ListSites", "sites", {}):
            if k["site"]["name"] == site:
                return str(k["site"]["address"])
        raise GridError("unknown-site", f"no agent knows a site {site!r}", field="site")

    def _put_at(self, at: Target, raw: Raw, content: Content) -> Data:
        for left in (2, 1, 0):
            self._bring(at.address, content, Scope())
            silent = False

            def put() -> dict[str, Any]:
                nonlocal silent
                try:
                    return self._tell(at, "PutData", {"data": raw}, Scope())
                except GridError as e:
                    silent = silent and e.kind is not Kind.REFUSED or e.kind is Kind.SILENT
                    raise

            try:
                return data_in(self._until(put)["data"])
            except DroverError as e:
                if getattr(e, "reason", "") == "unknown-content" and left:  # it was evicted meanwhile
                    continue
                if silent:
                    why = f"whether site {at.site} has data {raw['id']} is unknown: {e}"
                    raise GridError("unknown", why, hint=f"repeat the call with site={at.site!r} and id={raw['id']!r} to find out") from e
                raise
        raise AssertionError("no try is left")

    def _until(self, call: Callable[[], T]) -> T:
        """Repeats a call until it is answered or patience runs out."""
        return self._persist(1, lambda _: call())

    def _retry(self, question: Callable[[str], T]) -> T:
        """Asks the agents in turn until one answers or patience runs out."""
        agents = self._roster()

        def ask(i: int) -> T:
            answer = question(agents[i])
            self._answered(agents[i])
            return answer

        return self._persist(len(agents), ask)

    def _persist(self, n: int, question: Callable[[int], T]) -> T:
        q = Inquiry(n, self.patience)
        a = q.start(time.monotonic())
        while a.do is not Verb.FAIL:
            if a.do is Verb.PAUSE:
                Scope().pause(a.until - time.monotonic())
                a = q.awake(time.monotonic())
                continue
            try:
                return question(a.agent)
            except GridError as e:
                a = q.failed(time.monotonic(), e)
        assert a.error is not None
        raise a.error


def _no_site(id: str) -> GridError:
    return GridError("unknown-data", f"no site has data {id}", field="data_id")


def _content(source: Any) -> Content:
    if isinstance(source, os.PathLike):
        return Content.of_npy(source) if npy.is_npy(source) else Content(source, "")
    if isinstance(source, (bytes, bytearray)):
        return Content(source, "")
    block = block_of("source", source)
    if block is None:
        raise GridError(
            "wrong-type", type(source).__name__, field="source",
            accepted="bytes, a pathlib.Path, a drover.Matrix, or what has the buffer protocol, as array.array",
        )
    return Content(block, "")
