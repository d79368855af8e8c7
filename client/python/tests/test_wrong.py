"""What is wrong is an error of the package, before anything is sent."""

import datetime
import os
import pathlib
import tempfile
import unittest

import drover

ID = "01a1fddd-b7ba-7e51-8bf0-783efd4419a7"
OTHER = "01a1fddd-b7ba-7e51-8bf0-783efd4419a8"


def offline():
    """A client that fails when it sends something."""
    client = drover.Client("http://127.0.0.1:1", patience=0)

    def send(*_, **__):
        raise AssertionError("something is sent")

    client._wire.call = client._wire.stream = client._wire.send = send
    return client


class Wrong(unittest.TestCase):
    def refused(self, what, do, reason, field):
        with self.subTest(what):
            with self.assertRaises(drover.GridError) as caught:
                do()
            e = caught.exception
            self.assertEqual((e.reason, e.field), (reason, field))
            self.assertTrue(e.accepted)

    def test_a_client_of_nothing(self):
        for what, agents, reason, field in (
            ("a number", 5, "wrong-type", "agents"),
            ("none", [], "bad-value", "agents"),
            ("a list of numbers", [5], "wrong-type", "agents[0]"),
            ("bytes", b"http://h:1", "wrong-type", "agents"),
            ("no URL", ["http://h:1", "h:1"], "bad-value", "agents[1]"),
            ("another scheme", "https://h:1", "bad-value", "agents[0]"),
            ("no host", "http://:1", "bad-value", "agents[0]"),
            ("a port that is a word", "http://h:port", "bad-value", "agents[0]"),
            ("a port that is too large", "http://h:65536", "bad-value", "agents[0]"),
            ("half an address", "http://[::1", "bad-value", "agents[0]"),
        ):
            self.refused(what, lambda: drover.Client(agents), reason, field)
        for name in ("patience", "long_patience", "call_timeout"):
            for value, reason in (("10", "wrong-type"), (None, "wrong-type"), (-1, "out-of-range"), (10**400, "out-of-range"), (float("nan"), "out-of-range"), (True, "wrong-type")):
                self.refused((name, value), lambda: drover.Client("http://h:1", **{name: value}), reason, name)
        self.refused("owner", lambda: drover.Client("http://h:1", owner=5), "wrong-type", "owner")

    def test_a_password_is_never_shown(self):
        for url in (
            "http://ada:secret@h:1", "https://secret@h", "http://ada:sec/secret@h:port", "ada:secret@h", "http://h@secret@:1",
            "http://a:secret@h:99999",
        ):
            with self.assertRaises(drover.GridError) as caught:
                drover.Client([url])
            e = caught.exception
            self.assertNotIn("secret", f"{e} {e!r} {e.__dict__} {e.__cause__!r} {e.__context__!r}", url)

    def test_options_of_other_types(self):
        now = datetime.datetime.now(datetime.timezone.utc)
        for name, value, reason, field in (
            ("width", "2", "wrong-type", "request.width"),
            ("width", 2.0, "wrong-type", "request.width"),
            ("width", True, "wrong-type", "request.width"),
            ("width", 0, "out-of-range", "request.width"),
            ("walltime", "90s", "wrong-type", "request.walltime"),
            ("walltime", float("inf"), "out-of-range", "request.walltime"),
            ("walltime", 10**400, "out-of-range", "request.walltime"),
            ("site", "\ud800", "bad-value", "request.site"),
            ("keep", 5, "wrong-type", "request.keep"),
            ("keep", b"c", "wrong-type", "request.keep"),
            ("keep", [5], "bad-value", "request.keep"),
            ("shapes", 5, "wrong-type", "request.shapes"),
            ("shapes", [5], "wrong-type", "request.shapes"),
            ("shapes", [(1, "x")], "wrong-type", "request.shapes"),
            ("shapes", [("1", 5)], "wrong-type", "request.shapes"),
            ("deadline", 60, "wrong-type", "request.deadline"),
            ("deadline", "tomorrow", "wrong-type", "request.deadline"),
            ("deadline", now.replace(tzinfo=None), "bad-value", "request.deadline"),
            ("earliest_start", datetime.timedelta(1), "wrong-type", "request.earliest_start"),
            ("agreement", 5, "wrong-type", "request.agreement"),
            ("agreement", drover.Agreement(value="5"), "wrong-type", "request.agreement.value"),
            ("memory", "4GiB", "wrong-type", "request.memory_bytes"),
            ("cpu", "1", "wrong-type", "request.cpu"),
            ("licenses", ["matlab"], "wrong-type", "request.licenses"),
            ("licenses", {"matlab": "1"}, "wrong-type", "request.licenses.matlab"),
            ("into", 5, "wrong-type", "request.into"),
            ("input_site", 5, "wrong-type", "request.input_site"),
            ("site", ["lyon"], "wrong-type", "request.site"),
            ("idempotent", 1, "wrong-type", "request.idempotent"),
            ("owner", 5, "wrong-type", "request.owner"),
            ("labels", [("a", "b")], "wrong-type", "request.labels"),
            ("labels", {"a": 1}, "wrong-type", "request.labels.a"),
            ("labels", {1: "a"}, "wrong-type", "request.labels"),
            ("after", ID, "wrong-type", "request.after"),
            ("after", 5, "wrong-type", "request.after"),
            ("after", [5], "wrong-type", "request.after"),
            ("after", ["prepare"], "bad-value", "request.after"),
            ("after_any", [ID[:8]], "bad-value", "request.after"),
            ("retries", "3", "wrong-type", "request.retries"),
            ("retry_on", 1, "wrong-type", "request.retry_on"),
            ("retry_on", ["1"], "wrong-type", "request.retry_on"),
        ):
            self.refused((name, value), lambda: offline().submit("s", drover.Options(**{name: value})), reason, field)

    def test_calls_of_other_types(self):
        client = offline()
        job = drover.Job(client, ID)
        for what, do, reason, field in (
            ("service", lambda: client.submit(5), "wrong-type", "service"),
            ("options", lambda: client.submit("s", {"width": 2}), "wrong-type", "options"),
            ("an argument", lambda: client.submit("s", a={1: 2}), "wrong-type", "request.arguments.a"),
            ("service of a future", lambda: client.call_async(None), "wrong-type", "service"),
            ("job", lambda: client.job(5), "wrong-type", "job_id"),
            ("no job", lambda: client.job("last"), "bad-value", "job_id"),
            ("why", lambda: client.why(None), "wrong-type", "job_id"),
            ("filter", lambda: client.jobs({"state": "active"}), "wrong-type", "filter"),
            ("wait", lambda: job.wait("1"), "wrong-type", "timeout"),
            ("wait, not a number", lambda: job.wait(float("nan")), "out-of-range", "timeout"),
            ("wait, more than a float", lambda: job.wait(10**400), "out-of-range", "timeout"),
            ("all of what", lambda: client.wait_all(5), "wrong-type", "jobs"),
            ("all of one job", lambda: client.wait_all(job), "wrong-type", "jobs"),
            ("all of IDs", lambda: client.wait_all([ID]), "wrong-type", "jobs"),
            ("any of none", lambda: client.wait_any([]), "bad-value", "jobs"),
            ("any of None", lambda: client.wait_any([None]), "wrong-type", "jobs"),
            ("any within", lambda: client.wait_any([job], "1"), "wrong-type", "timeout"),
            ("offset", lambda: job.logs(offset="0"), "wrong-type", "offset"),
            ("offset below", lambda: job.logs(offset=-1), "out-of-range", "offset"),
            ("argument", lambda: job.read(5), "wrong-type", "argument"),
            ("no argument's name", lambda: job.read("\ud800"), "bad-value", "argument"),
            ("array of no name", lambda: job.array("\ud800"), "bad-value", "argument"),
            ("data of other types", lambda: client.list_data(b"x"), "wrong-type", "filter"),
            ("data at a list", lambda: client.put_data(b"x", site=[]), "wrong-type", "site"),
            ("data with an owner", lambda: client.put_data(b"x", owner=5), "wrong-type", "owner"),
            ("a matrix of words", lambda: drover.Matrix("1", 1, [1]), "wrong-type", "rows"),
            ("a matrix of nothing", lambda: drover.Matrix(1, 1, None), "wrong-type", "data"),
            ("a matrix of a text", lambda: drover.Matrix(1, 1, "x"), "wrong-type", "data"),
            ("path", lambda: job.download("a", 5), "wrong-type", "path"),
            ("place", lambda: client.call("s", a=drover.Output(5)), "wrong-type", "request.arguments.a"),
        ):
            self.refused(what, do, reason, field)

    def test_a_text_of_more_than_a_message_is_refused_without_its_text(self):
        client, long = offline(), "a" * (4 << 20) + "b"
        for what, do, reason, field in (
            ("an argument", lambda: client.submit("s", a=long), "too-large", "request.arguments.a"),
            ("owner", lambda: client.submit("s", drover.Options(owner=long)), "too-large", "request.owner"),
            ("label", lambda: client.submit("s", drover.Options(labels={"a": long})), "too-large", "request.labels.a"),
            ("service", lambda: client.submit(long), "too-large", "service"),
            ("job", lambda: client.job(long), "bad-value", "job_id"),
            ("data", lambda: client.find_data(long), "bad-value", "data_id"),
        ):
            self.refused(what, do, reason, field)
            with self.assertRaises(drover.GridError) as caught:
                do()
            self.assertLess(len(str(caught.exception)), 300, what)

    def test_a_place_for_a_file_is_looked_at_before_the_job(self):
        with tempfile.TemporaryDirectory() as d:
            folder = pathlib.Path(d)
            (folder / "file").write_bytes(b"")
            for path, why in (
                (folder / "none" / "x", "there is no directory"), (folder, "a directory"), (d + "/", "a directory"), ("", "a directory"),
                (folder / "file" / "x", "there is no directory"), (d + "/a\0b", "null"), (d + "/\ud800", "not Unicode"),
            ):
                with self.subTest(path), self.assertRaisesRegex(drover.FileError, "output a: .*" + why):
                    offline().call("s", a=drover.Output(path))
            if os.getuid():
                folder.chmod(0o500)
                with self.assertRaisesRegex(drover.FileError, "no file can be put"):
                    offline().call("s", a=drover.Output(folder / "x"))
                folder.chmod(0o700)

    def test_a_file_that_cannot_be_written_is_an_error_of_ours(self):
        job = drover.Job(offline(), ID)
        with self.assertRaises(drover.FileError):
            job.download("a", "/nowhere/at/all/x")
        for name in ("a\0b", "\ud800"):
            with self.subTest(name):
                self.assertRaises(drover.FileError, job.download, "a", name)
                self.assertRaises(drover.FileError, offline().submit, "s", a=pathlib.Path(name))

    def test_a_wait_of_a_thousand_years_is_one_without_an_end(self):
        for timeout in (1e300, 10**12):
            self.assertIsNone(drover.check.timeout(timeout))
        self.assertLess(drover.Client("http://h:1", patience=1e300).patience, 1e10)

    def test_a_client_that_is_closed_says_so(self):
        with offline() as client:
            pass
        job = drover.Job(client, ID)
        for do in (
            lambda: client.submit("s"), lambda: client.call("s"), lambda: client.call_async("s"),
        ):
            self.assertRaises(drover.ClosedError, do)
        closed = drover.Client("http://127.0.0.1:1")
        closed.close()
        closed.close()
        job = drover.Job(closed, ID, at=drover.pursuit.Target("a", "http://127.0.0.1:1"))
        for do in (closed.sites, closed.jobs, job.refresh, job.wait, job.cancel, lambda: list(job.logs()), lambda: closed.job(ID)):
            self.assertRaises(drover.ClosedError, do)

    def test_what_a_request_comes_after(self):
        job = drover.Job(offline(), OTHER)
        m = drover.Options(after=[job], after_any=(ID, OTHER), retries=3, retry_on=(1, 75), site="lyon").out()
        self.assertEqual({d["jobId"]: d["condition"] for d in m["after"]}, {
            OTHER: "DEPENDENCY_CONDITION_DONE", ID: "DEPENDENCY_CONDITION_ANY",
        })
        self.assertEqual((m["retries"], m["retryOn"], m["site"]), (3, [1, 75], "lyon"))
        self.assertEqual(set(drover.Options().out()) & {"after", "retries", "retryOn", "site"}, set())
