"""The rules of submitting and following, by the scripts of the Go client's tests."""

import pathlib
import re
import unittest

from drover.errors import GridError, HopsError, Kind, PatienceError, UnknownOutcome
from drover.pursuit import MAX_HOPS, Inquiry, Pursuit, Target, Verb
from drover.submission import Submission

GO = pathlib.Path(__file__).resolve().parents[3] / "client" / "submission"

# "name": {agents, patience, ["place",] `script`}
CASE = re.compile(r'"([^"]+)": \{(\d+), ([^,]+), (?:"(\w*)", )?`([^`]*)`\}')
UNITS = {"Microsecond": 1, "Millisecond": 1_000, "Second": 1_000_000, "Minute": 60_000_000}


def cases(file):
    for name, agents, patience, at, script in CASE.findall((GO / file).read_text()):
        number, _, unit = patience.partition(" * batch.")
        if not unit and patience.startswith("batch."):
            number, unit = "1", patience[len("batch.") :]
        yield name, int(agents), int(number) * UNITS[unit or "Second"] / 1e6, at, script


def seconds(text):
    """Reads a Go duration."""
    factors = {"h": 3600, "m": 60, "s": 1, "ms": 1e-3}
    return sum(float(n) * factors[u] for n, u in re.findall(r"([\d.]+)(ms|h|m|s)", text))


def duration(s):
    """Writes one, as Go does."""
    if s < 1:
        return f"{round(s * 1000):g}ms"
    minutes, rest = divmod(round(s, 3), 60)
    return (f"{minutes:g}m" if minutes else "") + f"{round(rest, 3):g}s"


def site(name):
    return Target(name, "http://" + name)


def failure(name):
    return GridError(name, name, kind=Kind(name))


def show(action):
    if action.do in (Verb.MAP, Verb.FIND, Verb.ASK):
        return f"{action.do.value} {action.agent}"
    if action.do is Verb.PAUSE:
        return f"pause until {duration(action.until)} for {action.error}"
    if action.do is Verb.FAIL:
        e = action.error
        if isinstance(e, UnknownOutcome):
            return f"unknown at {e.site} for {e.cause}"
        if isinstance(e, PatienceError):
            return f"give up after {duration(e.after)} for {e.cause}"
        return f"fail for {e}"
    return f"{action.do.value} {action.target.site}" if action.target else action.do.value


class Scripts(unittest.TestCase):
    def play(self, script, event):
        for line in script.strip().splitlines():
            before, _, want = line.partition("=>")
            at, name, *args = before.split()
            self.assertEqual(show(event(seconds(at), name, args)), want.strip(), line.strip())

    def play_all(self, file, least, make):
        played = 0
        for name, agents, patience, at, script in cases(file):
            with self.subTest(name):
                self.play(script, make(agents, patience, at))
                played += 1
        self.assertGreaterEqual(played, least, "scripts that were found and held")

    def test_submissions_do_what_those_of_the_go_client_do(self):
        def make(agents, patience, _):
            s = Submission(agents, patience, "j")

            def event(now, name, args):
                if name == "mapped":
                    return s.mapped(now, [site(a) for a in args])
                if name in ("start", "accepted", "withdrawn", "awake"):
                    return getattr(s, name)(now)
                return s.failed(now, failure(name))

            return event

        self.play_all("submission_test.go", 25, make)

    def test_pursuits_do_what_those_of_the_go_client_do(self):
        def make(agents, patience, at):
            p = Pursuit(agents, patience, "j", site(at) if at else None, 0)

            def event(now, name, args):
                if name == "progress":
                    p.progress(int(args[0]))
                    return p.last
                if name == "moved":
                    return p.moved(now, int(args[0]))
                if name == "found":
                    return p.found(now, site(args[0]), int(args[1]))
                if name in ("start", "finished", "awake"):
                    return getattr(p, name)(now)
                return p.failed(now, failure(name))

            return event

        self.play_all("pursuit_test.go", 14, make)

    def test_inquiries_do_what_those_of_the_go_client_do(self):
        def make(agents, patience, _):
            q = Inquiry(agents, patience)

            def event(now, name, args):
                if name in ("start", "answered", "awake"):
                    return getattr(q, name)(now)
                return q.failed(now, failure(name))

            return event

        self.play_all("inquiry_test.go", 4, make)

    def test_a_pursuit_gives_up_after_the_most_moves(self):
        p = Pursuit(1, 1, "j", site("s0"), 0)
        p.start(0)
        for hop in range(1, MAX_HOPS + 1):
            self.assertIs(p.moved(0, hop).do, Verb.FIND)
            p.found(0, site(f"s{hop}"), hop)
        self.assertIsInstance(p.moved(0, MAX_HOPS + 1).error, HopsError)


if __name__ == "__main__":
    unittest.main()
