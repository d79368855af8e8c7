"""What is retried, and how a job is followed when it moves.

These are the rules of the Go package ``client/submission``, and its tests run the
same scripts. There is no clock, socket or thread here: a driver carries out the last
:class:`Action`, and reports the result with the present time.

A pursuit visits the server that it knows, asks the agents when that server does not
answer or no longer has the job, and accepts only claims that are not older than what
it has seen (epochs).
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Optional

from .errors import GridError, HopsError, Kind, PatienceError

MAX_HOPS = 16
"""The most moves of a job that a pursuit follows."""

FIRST_PAUSE, LONGEST_PAUSE = 0.1, 2.0
"""Pauses between rounds, seconds: they double from the first to the longest."""


@dataclass(frozen=True)
class Target:
    """A site and the URL of its server."""

    site: str
    address: str


class Verb(enum.Enum):
    """What a driver should do."""

    MAP = "map"
    SUBMIT = "submit"
    WITHDRAW = "withdraw"
    FIND = "find"
    ASK = "ask"
    VISIT = "visit"
    PAUSE = "pause"
    DONE = "done"
    FAIL = "fail"


@dataclass(frozen=True)
class Action:
    """What a driver should do next; after DONE and FAIL there is nothing."""

    do: Verb
    agent: int = 0  # of MAP, FIND and ASK
    target: Optional[Target] = None  # of SUBMIT, WITHDRAW, VISIT and DONE
    until: float = 0.0  # of PAUSE
    error: Optional[BaseException] = None  # of FAIL; of PAUSE: what has failed


def kind_of(error: BaseException) -> Kind:
    """What a failure proves. What is no error of a call is of this machine."""
    return error.kind if isinstance(error, GridError) else Kind.REFUSED


class Retry:
    """Decides how long to retry."""

    def __init__(self, patience: float) -> None:
        self.patience = patience
        self.fine()
        self.since = 0.0

    def fine(self) -> None:
        self.failing, self.tries, self.pause = False, 0, 0.0

    def failed(self, now: float) -> None:
        if not self.failing:
            self.failing, self.since = True, now
        self.tries += 1

    def until(self, now: float) -> Optional[float]:
        """When to retry, None if patience has run out."""
        if not self.failing:
            self.failed(now)
        end = self.since + self.patience
        if now >= end:
            return None
        self.pause = min(max(2 * self.pause, FIRST_PAUSE), LONGEST_PAUSE)
        return min(now + self.pause, end)

    def gave_up(self, now: float, job: str, at: Optional[Target], error: BaseException) -> BaseException:
        if self.patience == 0:
            return error
        return PatienceError(job, at.site if at else "", now - self.since, self.tries, error)


class Pursuit:
    """Makes calls about a job at the server that has it."""

    def __init__(self, agents: int, patience: float, job: str, at: Optional[Target], epoch: int) -> None:
        self._agents, self._job = agents, job
        self._retry = Retry(patience)
        self._agent = -1  # asked last
        self._asked = 0  # agents asked since the last visit or pause
        self._at = at  # last known location of the job
        self._known = at is not None  # it may still be there
        self._gone: Optional[Target] = None  # the server that said that it moved away
        self._epoch = epoch  # the highest seen
        self._absent = 0  # how many of the agents asked know no site that has it
        self._visits = 0  # since the last pause
        self._why: Optional[BaseException] = None  # failure of the last visit
        self._hops = 0
        self.last = Action(Verb.PAUSE)

    def start(self, now: float) -> Action:
        return self._visit() if self._known else self._find()

    def progress(self, epoch: int) -> None:
        """Notes news from a visit under way: the next failure starts with full patience."""
        self._retry.fine()
        self._epoch = max(self._epoch, epoch)
        self._why = None

    def finished(self, now: float) -> Action:
        """Takes the end of the pursuit's calls."""
        return self._act(Action(Verb.DONE, target=self._at))

    def moved(self, now: float, epoch: int) -> Action:
        """Takes the visited server's answer that the job has moved away."""
        assert self._at is not None
        if epoch < self._epoch:
            why = f"job {self._job}: site {self._at.site} reports an outdated move"
            return self.failed(now, GridError("unknown-job", why, kind=Kind.ABSENT))
        self.progress(epoch)
        self._known, self._gone = False, self._at
        self._hops += 1
        if self._hops > MAX_HOPS:
            return self._act(Action(Verb.FAIL, error=HopsError(self._job, MAX_HOPS)))
        return self._find()

    def found(self, now: float, at: Target, epoch: int) -> Action:
        """Takes an agent's answer: the server with the claim of the highest epoch."""
        if epoch < self._epoch or at == self._gone and epoch == self._epoch:
            why = f"job {self._job}: on its way from site {at.site}"
            return self.failed(now, GridError("unknown-job", why, kind=Kind.BUSY, retryable=True))
        # Pause before the server that has just failed, and before the third visit in a row.
        again = self._retry.failing and (self._visits > 1 or self._visits > 0 and at == self._at)
        self._at, self._known, self._gone, self._epoch = at, True, None, epoch
        if again and self._why is not None:
            return self._wait(now, self._why)
        return self._visit()

    def failed(self, now: float, error: BaseException) -> Action:
        """Takes the failure of a find or visit."""
        self._retry.failed(now)
        kind = kind_of(error)
        if kind is Kind.REFUSED:
            return self._act(Action(Verb.FAIL, error=error))
        if self.last.do is Verb.VISIT:
            self._why, self._known = error, kind is not Kind.ABSENT
            if kind is Kind.BUSY:  # the server has the job
                return self._wait(now, error)
            return self._find()
        if kind is Kind.ABSENT:
            self._absent += 1
        if self._asked < self._agents:
            return self._find_next()
        if self._absent == self._agents and not self._known and self._gone is None:
            return self._act(Action(Verb.FAIL, error=error))
        return self._wait(now, self._why or error)  # the job's own server is more relevant

    def awake(self, now: float) -> Action:
        """Takes the end of a pause."""
        self._visits = 0
        return self._visit() if self._known else self._find()

    def _visit(self) -> Action:
        self._visits += 1
        return self._act(Action(Verb.VISIT, target=self._at))

    def _find(self) -> Action:
        self._asked = self._absent = 0
        return self._find_next()

    def _find_next(self) -> Action:
        self._agent = (self._agent + 1) % self._agents
        self._asked += 1
        return self._act(Action(Verb.FIND, agent=self._agent))

    def _wait(self, now: float, error: BaseException) -> Action:
        until = self._retry.until(now)
        if until is not None:
            return self._act(Action(Verb.PAUSE, until=until, error=error))
        return self._act(Action(Verb.FAIL, error=self._retry.gave_up(now, self._job, self._at, error)))

    def _act(self, action: Action) -> Action:
        self.last = action
        return action


class Inquiry:
    """Puts a question to the agents until one answers."""

    def __init__(self, agents: int, patience: float) -> None:
        self._agents = agents
        self._retry = Retry(patience)
        self._agent = 0  # asked last
        self._asked = 0  # agents asked since the last pause

    def start(self, now: float) -> Action:
        return self._ask(0)

    def answered(self, now: float) -> Action:
        """Takes an agent's answer."""
        return Action(Verb.DONE)

    def failed(self, now: float, error: BaseException) -> Action:
        """Takes a failure. A refusal of one agent would be the refusal of all."""
        if kind_of(error) is Kind.REFUSED:
            return Action(Verb.FAIL, error=error)
        self._retry.failed(now)
        if self._asked < self._agents:
            return self._ask((self._agent + 1) % self._agents)
        until = self._retry.until(now)
        if until is None:
            return Action(Verb.FAIL, error=self._retry.gave_up(now, "", None, error))
        return Action(Verb.PAUSE, until=until, error=error)

    def awake(self, now: float) -> Action:
        """Takes the end of a pause."""
        self._asked = 0
        return self._ask((self._agent + 1) % self._agents)

    def _ask(self, agent: int) -> Action:
        self._agent = agent
        self._asked += 1
        return Action(Verb.ASK, agent=agent)
