"""Drives the state machines in drover.pursuit and drover.submission."""

from __future__ import annotations

import time
import urllib.parse
from collections.abc import Callable, Iterator
from typing import Any, Optional, TypeVar

from .call import AGENT, SERVER
from .errors import DroverError, GridError, Kind
from .job import Job, Moved
from .rpc import Wire
from .scope import Scope
from .pursuit import Action, Inquiry, Pursuit, Target, Verb
from .submission import Submission
from .supply import supply
from .values import Content

T = TypeVar("T")


class Driver:
    """Carries out the actions of the state machines, and reports the results."""

    def __init__(self, agents: list[str], patience: float, long_patience: float, call_timeout: float) -> None:
        self.agents = agents
        self.patience, self.long_patience = patience, long_patience
        # One call must not outlast the patience for all of them.
        self.call_timeout = min(call_timeout, max(patience, 0.01)) if patience > 0 else call_timeout
        self._wire = Wire(self.call_timeout)
        self._first = 0  # the agent that answered last

    def _submit(self, id: str, request: dict[str, Any], files: list[Content]) -> Job:
        agents, scope, mapped = self._roster(), Scope(), {}
        s = Submission(len(agents), self.patience, id)
        a = s.start(time.monotonic())
        job = Job(self, id)
        while True:
            try:
                if a.do is Verb.MAP:
                    within = {"deadline": f"{self.call_timeout * 0.8:.3f}s"}
                    message = {"request": request, "jobId": id, **within}
                    mapped = self._ask(agents[a.agent], "Map", message)
                    targets = [Target(t["site"], t["address"]) for t in mapped.get("targets", ())]
                    self._answered(agents[a.agent])
                    a = s.mapped(time.monotonic(), targets)
                elif a.do is Verb.SUBMIT:
                    job.raw = self._submit_at(a.target, id, request, files, mapped, scope)
                    a = s.accepted(time.monotonic())
                elif a.do is Verb.WITHDRAW:
                    answer = self._tell(a.target, "Withdraw", {"jobId": id}, scope)
                    if answer.get("withdrawn"):
                        a = s.withdrawn(time.monotonic())
                    else:
                        job.raw = answer["job"]
                        a = s.accepted(time.monotonic())
                elif a.do is Verb.PAUSE:
                    scope.pause(a.until - time.monotonic())
                    a = s.awake(time.monotonic())
                elif a.do is Verb.DONE:
                    job._at, job._epoch = a.target, job.raw.get("epoch", 0)
                    return job
                else:
                    raise _the_error(a)
            except GridError as e:
                if a.do in (Verb.DONE, Verb.FAIL):
                    raise
                withdrawn = a.do is Verb.SUBMIT and e.reason == "withdrawn"
                a = s.withdrawn(time.monotonic()) if withdrawn else s.failed(time.monotonic(), e)
            except DroverError as e:
                if a.do in (Verb.DONE, Verb.FAIL):
                    raise
                a = s.abandon(time.monotonic(), e)  # an unreadable file

    def _submit_at(
        self, at: Optional[Target], id: str, request: dict[str, Any], files: list[Content], mapped: dict[str, Any], scope: Scope
    ) -> dict[str, Any]:
        assert at is not None
        message = {"jobId": id, "request": request}
        if "decision" in mapped:
            message["decision"] = mapped["decision"]
        for left in (2, 1, 0):
            missing = self._provide(at, request, files, scope)
            try:
                return self._tell(at, "Submit", message, scope)["job"]
            except GridError as e:
                if e.reason != "unknown-data" or missing is None and not left:
                    raise
            if missing is not None:
                raise missing
        raise AssertionError("no try is left")

    def _provide(self, at: Target, request: dict[str, Any], files: list[Content], scope: Scope) -> Optional[GridError]:
        """Sends what a request needs. Data that is gone is returned as an error: it may
        have existed at an earlier try, after which the server has the job."""
        missing: Optional[GridError] = None
        try:
            try:
                supply(self, at, request, scope)
            except GridError as e:
                if e.reason != "unknown-data":
                    raise
                missing = e
                missing.kind = Kind.UNFIT
            for f in files:
                self._bring(at.address, f, scope)
        except GridError as e:  # nothing is submitted yet: another site may take it
            e.kind = Kind.UNFIT if e.kind is Kind.REFUSED else Kind.UNSENT
            raise
        return missing

    def _output(self, url: str, id: str, argument: str, offset: int) -> Iterator[bytes]:
        """An output of a job, from an offset on."""
        path = f"/v1/jobs/{id}/outputs/{urllib.parse.quote(argument, safe='')}"
        return self._wire.fetch(url, path, offset, Scope())

    def _bring(self, url: str, f: Content, scope: Scope) -> None:
        """Has content at a server. It does not send what is there, and resumes after a broken
        connection as long as each try makes progress."""
        most, since = -1, time.monotonic()
        broken: Optional[GridError] = None
        while True:
            complete, have = self._wire.arrived(url, f.sha256, f.size, scope, self.call_timeout)
            if complete:
                return
            if broken is not None and have <= most and not (
                broken.reason == "arriving" and time.monotonic() - since < self.patience
            ):
                raise broken
            most, offset = have, min(have, max(f.size - 1, 0))
            try:
                self._wire.send(url, f.sha256, f.size, offset, f.pieces(offset), scope)
                return
            except GridError as e:
                if e.field == "sha256" and offset and broken is None:
                    most = -1  # what was there was not its beginning; the server dropped it
                elif e.kind is not Kind.SILENT and e.reason != "arriving":
                    raise
                broken = e
                scope.pause(0.2)

    def _pursue(
        self,
        job: Job,
        visit: Callable[[str, Callable[[int], None]], Iterator[bytes]],
        patience: float,
        scope: Scope,
        found: Callable[[dict[str, Any]], None] = lambda raw: None,
    ) -> Iterator[bytes]:
        """Makes a visit at the server that has a job, and yields what it yields."""
        agents = self._roster()
        p = Pursuit(len(agents), patience, job.id, job._at, job._epoch)
        a = p.start(time.monotonic())
        while a.do is not Verb.DONE:
            if a.do is Verb.FAIL:
                raise _the_error(a)
            scope.check()
            try:
                if a.do is Verb.FIND:
                    answer = self._ask(agents[a.agent], "FindJob", {"jobId": job.id}, scope)
                    self._answered(agents[a.agent])
                    found(answer["job"])
                    at = Target(answer["target"]["site"], answer["target"]["address"])
                    a = p.found(time.monotonic(), at, answer["job"].get("epoch", 0))
                elif a.do is Verb.VISIT:
                    assert a.target is not None
                    job._at = a.target
                    yield from visit(a.target.address, p.progress)
                    a = p.finished(time.monotonic())
                else:
                    scope.pause(a.until - time.monotonic())
                    a = p.awake(time.monotonic())
            except Moved as m:
                a = p.moved(time.monotonic(), m.epoch)
            except GridError as e:
                a = p.failed(time.monotonic(), e)

    def _inquire(self, question: Callable[[str], T]) -> T:
        """Asks the agents in turn until one answers, each once."""
        agents = self._roster()
        q = Inquiry(len(agents), 0)
        a = q.start(time.monotonic())
        while a.do is Verb.ASK:
            try:
                answer = question(agents[a.agent])
                self._answered(agents[a.agent])
                return answer
            except GridError as e:
                a = q.failed(time.monotonic(), e)
        raise _the_error(a)

    def _pages(self, method: str, key: str, message: dict[str, Any]) -> list[dict[str, Any]]:
        """All pages of a list from one agent: agents need not agree on where they end."""

        def all(agent: str) -> list[dict[str, Any]]:
            items: list[dict[str, Any]] = []
            token = ""
            while True:
                answer = self._ask(agent, method, {**message, "pageToken": token})
                items += answer.get(key, ())
                token = answer.get("nextPageToken", "")
                if not token:
                    return items

        return self._inquire(all)

    def _ask(self, agent: str, method: str, message: dict[str, Any], scope: Optional[Scope] = None) -> dict[str, Any]:
        return self._wire.call(agent, AGENT, method, message, scope or Scope(), self.call_timeout)

    def _tell(self, at: Optional[Target], method: str, message: dict[str, Any], scope: Scope) -> dict[str, Any]:
        assert at is not None
        return self._wire.call(at.address, SERVER, method, message, scope, self.call_timeout)

    def _roster(self) -> list[str]:
        """The agents in the order in which to ask: first the one that answered last."""
        i = self._first
        return self.agents[i:] + self.agents[:i]

    def _answered(self, agent: str) -> None:
        self._first = self.agents.index(agent)


def _the_error(a: Action) -> BaseException:
    assert a.error is not None
    return a.error
