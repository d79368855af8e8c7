"""Where a request is submitted, by the rules of the Go package ``client/submission``.

A job belongs to the first server that its submission was sent to, because that
server may have accepted it although its answer was lost. The same job can be
submitted to another server only after a call that provably sent nothing, or after
the server has withdrawn the job. When patience runs out, its state is unknown:
:class:`~drover.errors.UnknownOutcome`.
"""

from __future__ import annotations

from typing import Optional

from .errors import GridError, Kind, UnknownOutcome
from .pursuit import Action, Retry, Target, Verb, kind_of

_REPEATS = 2  # consecutive submissions without an answer before the job is withdrawn


class Submission:
    """Brings one request to one server."""

    def __init__(self, agents: int, patience: float, job: str) -> None:
        self._agents, self._patience, self._job = agents, patience, job
        self._retry = Retry(patience)
        self._agent = 0  # asked last
        self._asked = 0  # agents asked in this round
        self._at: Optional[Target] = None  # the target of the last try
        self._rest: list[Target] = []  # the rest of the ranking
        self._left: set[str] = set()  # sites that have withdrawn the job
        self._later = False  # a target of this ranking may be reachable later
        # About the target at:
        self._sent = False  # it may have received the job: the job belongs there
        self._silent = False  # a submission there was not answered
        self._quiet = 0  # consecutive submissions without an answer
        self._leaving = False  # the job is being withdrawn there
        self._bound = False  # it does not withdraw jobs
        self._remap = False  # it cannot accept the job now: map again
        self._tries = 0
        self._why: Optional[BaseException] = None
        self._last = Action(Verb.PAUSE)

    def start(self, now: float) -> Action:
        return self._map(0)

    def mapped(self, now: float, targets: list[Target]) -> Action:
        """Takes an agent's ranking, best first."""
        if not targets:
            return self.failed(now, GridError("no-site", "the agent named no site", kind=Kind.BUSY))
        usable = [t for t in targets if t.site not in self._left]
        self._later = self._remap = False
        if not usable:
            return self._submit() if self._sent else self._wait(now, self._why)
        if not self._sent:
            return self._next(usable)
        if usable[0] == self._at:
            self._rest = usable[1:]
            return self._submit()
        assert self._at is not None
        self._rest = [t for t in usable if t.site != self._at.site]
        if not self._rest or self._bound:  # the same site at another address
            return self._submit()
        return self._leave()

    def accepted(self, now: float) -> Action:
        """Takes the server's answer that it has the job."""
        return self._act(Action(Verb.DONE, target=self._at))

    def withdrawn(self, now: float) -> Action:
        """Takes the server's answer that it will never accept the job."""
        assert self._at is not None
        self._left.add(self._at.site)
        self._sent = self._silent = self._leaving = False
        self._quiet = 0
        self._retry = Retry(self._patience)
        if self._rest:
            return self._next(self._rest)
        return self._fail(now, self._why)

    def failed(self, now: float, error: BaseException) -> Action:
        """Takes the failure of a map, submit or withdraw."""
        self._retry.failed(now)
        kind = kind_of(error)
        if self._last.do is Verb.MAP:
            return self._not_mapped(now, kind, error)
        if self._last.do is Verb.WITHDRAW:
            if kind in (Kind.REFUSED, Kind.ABSENT, Kind.UNFIT):
                self._leaving, self._bound = False, True
            return self._wait(now, error)
        if not self._sent and kind in (Kind.UNSENT, Kind.UNFIT):
            self._later = self._later or kind is Kind.UNSENT
            self._why = error
            if self._rest:
                return self._next(self._rest)
            return self._wait(now, error) if self._later else self._fail(now, error)
        return self._not_accepted(now, kind, error)

    def awake(self, now: float) -> Action:
        """Takes the end of a pause."""
        if self._leaving:
            return self._leave()
        if self._sent and not self._remap:
            return self._submit()
        self._asked = 0
        return self._map((self._agent + 1) % self._agents)

    def abandon(self, now: float, error: BaseException) -> Action:
        """Ends the submission."""
        return self._fail(now, error)

    def _not_mapped(self, now: float, kind: Kind, error: BaseException) -> Action:
        if kind is Kind.REFUSED:
            return self._fail(now, error)
        if self._asked < self._agents:
            return self._map((self._agent + 1) % self._agents)
        if self._sent:
            self._remap = False
            return self._submit()
        return self._wait(now, error)

    def _not_accepted(self, now: float, kind: Kind, error: BaseException) -> Action:
        if not self._sent:  # a new question begins: what became of the job there
            self._sent = True
            self._retry.fine()
            self._retry.failed(now)
        self._why = error
        elsewhere = bool(self._rest) and not self._bound
        if kind in (Kind.SILENT, Kind.UNSENT):
            self._silent = self._silent or kind is Kind.SILENT
            self._quiet += 1
            self._leaving = elsewhere and self._quiet >= _REPEATS
            return self._wait(now, error)
        if kind is Kind.BUSY:
            if elsewhere:
                return self._leave()
            self._quiet, self._remap = 0, True
            return self._wait(now, error)
        # A refusal after a silence proves nothing about the submission that was not
        # answered, which may still be under way. A withdrawal does.
        if elsewhere or self._silent and not self._bound:
            return self._leave()
        return self._fail(now, error)

    def _map(self, agent: int) -> Action:
        self._agent = agent
        self._asked += 1
        return self._act(Action(Verb.MAP, agent=agent))

    def _next(self, targets: list[Target]) -> Action:
        self._at, self._rest = targets[0], targets[1:]
        self._bound, self._tries = False, 0
        return self._submit()

    def _submit(self) -> Action:
        self._tries += 1
        return self._act(Action(Verb.SUBMIT, target=self._at))

    def _leave(self) -> Action:
        self._leaving = True
        self._tries += 1
        return self._act(Action(Verb.WITHDRAW, target=self._at))

    def _wait(self, now: float, error: Optional[BaseException]) -> Action:
        assert error is not None
        until = self._retry.until(now)
        if until is not None:
            return self._act(Action(Verb.PAUSE, until=until, error=error))
        if self._silent:
            return self._fail(now, error)
        return self._fail(now, self._retry.gave_up(now, "", self._at, error))

    def _fail(self, now: float, error: Optional[BaseException]) -> Action:
        assert error is not None
        if self._silent and self._at is not None:
            error = UnknownOutcome(self._job, self._at.site, now - self._retry.since, self._tries, error)
        return self._act(Action(Verb.FAIL, error=error))

    def _act(self, action: Action) -> Action:
        self._last = action
        return action
