"""What is sent again, where, and under which ID, when answers are lost."""

import base64
import contextlib
import hashlib
import http.server
import json
import os
import pathlib
import random
import struct
import tempfile
import threading
import time
import unittest
import uuid
from unittest import mock

import drover
from drover import detail


class Fake:
    """An agent, or a server, that answers what a test says; None is silence."""

    def __init__(self, test, **answers):
        fake = self
        self.calls, self.answers = [], {name: list(list_) for name, list_ in answers.items()}

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                raw = self.rfile.read(int(self.headers["Content-Length"])) if "Content-Length" in self.headers else self.chunk()
                stream = self.headers["Content-Type"] == "application/connect+json"
                body = json.loads(raw[5:] if stream else raw)
                self.respond(self.path.rsplit("/", 1)[1], body)

            def respond(self, method, body):
                fake.calls.append((method, body))
                answer = fake.answers[method].pop(0) if len(fake.answers[method]) > 1 else fake.answers[method][0]
                if answer is None:
                    self.close_connection = True
                    return
                if isinstance(answer, (Stream, File)):
                    answer.write(self)
                    return
                status, message = answer if isinstance(answer, tuple) else (200, answer)
                data = json.dumps(message).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def do_HEAD(self):
                self.send_response(404)
                self.send_header("Upload-Offset", "0")
                self.end_headers()

            def do_PUT(self):
                self.rfile.read(int(self.headers["Content-Length"]))
                self.respond("Upload", {})

            def do_GET(self):
                self.respond("Download", {"offset": (self.headers["Range"] or "bytes=0-")[6:-1]})

            def chunk(self):
                """The first chunk of a body, the others being read and thrown away."""
                first = b""
                while size := int(self.rfile.readline(), 16):
                    data = self.rfile.read(size)
                    first = first or data
                    self.rfile.readline()
                self.rfile.readline()
                return first

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_):
                pass  # the client was faster

        self.server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()
        test.addCleanup(self.close)

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def methods(self):
        return [method for method, _ in self.calls]


class Stream:
    """An answer of several messages; the connection can break after them."""

    def __init__(self, *messages, whole=True, cut=b""):
        self.messages, self.whole, self.cut = messages, whole, cut

    def write(self, handler):
        handler.send_response(200)
        handler.send_header("Content-Type", "application/connect+json")
        handler.end_headers()
        handler.close_connection = True
        for flags, m in [(0, m) for m in self.messages] + ([(2, {})] if self.whole else []):
            data = json.dumps(m).encode()
            handler.wfile.write(struct.pack(">BI", flags, len(data)) + data)
        handler.wfile.write(self.cut)


class File:
    """The rest of a file up to an offset, after which the connection breaks."""

    def __init__(self, content, end):
        self.content, self.end = content, end

    def write(self, handler):
        begin = int(handler.headers["Range"][6:-1]) if "Range" in handler.headers else 0
        handler.send_response(206 if begin else 200)
        handler.send_header("Content-Length", str(len(self.content) - begin))
        handler.end_headers()
        handler.close_connection = True
        handler.wfile.write(self.content[begin : self.end])


def refusal(code, reason, retryable=False):
    """An error as agents and servers send it."""
    raw = b"\x0a" + bytes([len(reason)]) + reason.encode() + (b"\x30\x01" if retryable else b"")
    value = base64.b64encode(raw).decode().rstrip("=")
    return 503, {"code": code, "message": reason, "details": [{"type": "drover.v1.ErrorDetail", "value": value}]}


def accepted(site):
    return {"job": {"id": "j", "state": "JOB_STATE_WAITING", "site": site}}


class Submitting(unittest.TestCase):
    def grid(self, *servers):
        targets = [{"site": name, "address": s.url} for name, s in servers]
        return Fake(self, Map=[{"targets": targets, "decision": {"chosen": servers[0][0]}}])

    def client(self, *agents, **config):
        c = drover.Client([a.url for a in agents], **{"patience": 5, **config})
        self.addCleanup(c.close)
        return c

    def test_what_was_not_answered_is_sent_again_under_the_same_id_to_the_same_server(self):
        a = Fake(self, Submit=[None, accepted("a")])
        b = Fake(self, Submit=[accepted("b")])
        job = self.client(self.grid(("a", a), ("b", b))).submit("s", n=1)
        self.assertEqual((job.site, a.methods(), b.calls), ("a", ["Submit", "Submit"], []))
        self.assertEqual(a.calls[0], a.calls[1])
        self.assertEqual(a.calls[0][1]["jobId"], job.id)
        self.assertEqual(a.calls[0][1]["request"], {"service": "s", "arguments": {"n": {"intValue": "1"}}})
        self.assertEqual(a.calls[0][1]["decision"], {"chosen": "a"})

    def test_another_server_gets_the_job_only_after_a_withdrawal(self):
        a = Fake(self, Submit=[None], Withdraw=[None, {"withdrawn": True}])
        b = Fake(self, Submit=[accepted("b")])
        job = self.client(self.grid(("a", a), ("b", b))).submit("s")
        self.assertEqual((job.site, a.methods(), b.methods()), ("b", ["Submit", "Submit", "Withdraw", "Withdraw"], ["Submit"]))
        self.assertEqual({body["jobId"] for _, body in a.calls + b.calls}, {job.id})

    def test_a_server_that_has_it_after_all_keeps_it(self):
        a = Fake(self, Submit=[refusal("unavailable", "draining", True)], Withdraw=[accepted("a")])
        b = Fake(self, Submit=[accepted("b")])
        self.assertEqual(self.client(self.grid(("a", a), ("b", b))).submit("s").site, "a")
        self.assertEqual(b.calls, [])

    def test_one_that_cannot_be_reached_is_gone_by_at_once(self):
        a = Fake(self)
        b = Fake(self, Submit=[accepted("b")])
        agent = self.grid(("a", a), ("b", b))
        a.close()
        with mock.patch.object(a.server, "shutdown"):  # it is down already
            self.assertEqual(self.client(agent).submit("s").site, "b")
            self.assertEqual(agent.methods(), ["Map"])

    def test_a_site_that_does_not_take_the_file_is_gone_by(self):
        a = Fake(self, Upload=[refusal("invalid_argument", "too-large")])
        b = Fake(self, Upload=[None, {}], Submit=[accepted("b")])
        agent = self.grid(("a", a), ("b", b))
        self.assertEqual(self.client(agent).submit("s", f=b"content").site, "b")
        # The upload to b breaks before the submission: the agent is asked again.
        self.assertEqual((a.methods(), b.methods()), (["Upload"] * 2, ["Upload", "Upload", "Submit"]))
        self.assertEqual(agent.methods(), ["Map", "Map"])

    def test_a_silence_that_lasts_is_an_unknown_outcome(self):
        a = Fake(self, Submit=[None])
        with self.assertRaises(drover.UnknownOutcome) as caught:
            self.client(self.grid(("a", a)), patience=0.3).submit("s")
        self.assertEqual(caught.exception.site, "a")
        self.assertEqual({body["jobId"] for _, body in a.calls}, {caught.exception.job})
        self.assertIsInstance(caught.exception.cause, drover.GridError)

    def test_without_patience_nothing_is_tried_twice(self):
        a = Fake(self, Submit=[None])
        with self.assertRaises(drover.UnknownOutcome):
            self.client(self.grid(("a", a)), patience=0).submit("s")
        self.assertEqual(a.methods(), ["Submit"])

    def test_a_refusal_is_the_answer(self):
        agent = Fake(self, Map=[refusal("not_found", "unknown-service")])
        with self.assertRaises(drover.GridError) as caught:
            self.client(agent).submit("s")
        self.assertEqual((caught.exception.reason, agent.methods()), ("unknown-service", ["Map"]))

    def test_the_next_agent_is_asked_and_stays_the_first(self):
        silent, good = Fake(self, ListSites=[None]), Fake(self, ListSites=[{}])
        client = self.client(silent, good)
        self.assertEqual((client.sites(), client.sites()), ([], []))
        self.assertEqual((silent.methods(), good.methods()), (["ListSites"], ["ListSites"] * 2))


class Following(unittest.TestCase):
    """A job at a server with connections that break."""

    WORDS = b"0123456789"

    def job(self, *downloads, sha256=None, **answers):
        record = {
            "id": "j", "state": "JOB_STATE_DONE", "site": "a", "outcome": {},
            "outputs": [{"argument": "o", "sizeBytes": "10", "sha256": sha256 or hashlib.sha256(self.WORDS).hexdigest()}],
        }
        self.record = record
        self.server = Fake(self, **{"GetJob": [{"job": record}], "Download": list(downloads), **answers})
        agent = Fake(self, FindJob=[{"target": {"site": "a", "address": self.server.url}, "job": record}])
        client = drover.Client([agent.url], patience=5, long_patience=5)
        self.addCleanup(client.close)
        return drover.Job(client, "j")

    def piece(self, a, b):
        return {"data": base64.b64encode(self.WORDS[a:b]).decode(), "offset": str(a), "sizeBytes": "10"}

    def offsets(self):
        return [body["offset"] for method, body in self.server.calls if method == "Download"]

    def test_a_download_goes_on_where_its_connection_broke(self):
        job = self.job(
            File(self.WORDS, 4),
            None,
            File(self.WORDS, 6),
            File(self.WORDS, 10),
        )
        self.assertEqual(job.read("o"), self.WORDS)
        self.assertEqual(self.offsets(), ["0", "4", "4", "6"])

    def test_what_does_not_fit_its_checksum_is_no_download(self):
        job = self.job(File(self.WORDS, 10), sha256="0" * 64)
        with tempfile.TemporaryDirectory() as d:
            path = pathlib.Path(d) / "o"
            path.write_bytes(b"what was there before")
            with self.assertRaisesRegex(drover.GridError, "checksum"):
                job.download("o", path)
            self.assertEqual([p.read_bytes() for p in path.parent.iterdir()], [b"what was there before"])

    def test_a_watch_that_ends_before_the_job_is_restarted(self):
        running = {"job": {"id": "j", "state": "JOB_STATE_RUNNING", "site": "a"}}
        job = self.job(WatchJob=[Stream(running), Stream(running, whole=False), None])
        self.server.answers["WatchJob"][-1:] = [None, Stream(running, {"job": self.record})]
        self.assertEqual(job.wait(5).state, "done")
        self.assertEqual(self.server.methods(), ["WatchJob"] * 4)

    def test_an_error_in_a_stream_is_the_error(self):
        job = self.job()
        error = {"error": refusal("not_found", "unknown-output")[1]}

        class Ended(Stream):
            def write(self, handler):
                super().write(handler)
                data = json.dumps(error).encode()
                handler.wfile.write(struct.pack(">BI", 2, len(data)) + data)

        self.server.answers["ReadLogs"] = [Ended(self.piece(0, 4), whole=False)]
        with self.assertRaises(drover.GridError) as caught:
            list(job.logs())
        self.assertEqual(caught.exception.reason, "unknown-output")


class Configuration(unittest.TestCase):
    def test_agents_come_from_the_environment_or_are_local(self):
        with mock.patch.dict(os.environ, {"DROVER_AGENTS": "http://a:1,http://b:2"}):
            self.assertEqual(drover.Client().agents, ["http://a:1", "http://b:2"])
        with mock.patch.dict(os.environ, {"DROVER_AGENTS": ""}):
            self.assertEqual(drover.Client().agents, ["http://127.0.0.1:7410"])

    def test_job_ids_are_uuids_of_version_7_in_the_order_of_time(self):
        before = time.time_ns() // 1_000_000
        ids = {drover.new_job_id() for _ in range(1000)}
        self.assertEqual(len(ids), 1000)
        for id in ids:
            u = uuid.UUID(id)
            self.assertEqual((str(u), u.version, u.variant), (id, 7, uuid.RFC_4122))
            self.assertTrue(before <= u.int >> 80 <= time.time_ns() // 1_000_000)


class Details(unittest.TestCase):
    def test_a_detail_with_an_offer_is_read(self):
        wait = b"\x08\x03\x10\x80\xca\xb5\xee\x01"  # 3 s and 500,000,000 ns
        offer = b"\x0a\x04lyon" + b"\x12" + bytes([len(wait)]) + wait + b"\x20\x08"
        raw = b"\x0a\x08no-offer" + b"\x2a\x01h" + b"\x30\x01" + b"\x3a" + bytes([len(offer)]) + offer
        self.assertEqual(
            detail.decode(base64.b64encode(raw).decode().rstrip("=")),
            {
                "reason": "no-offer", "hint": "h", "retryable": True,
                "offer": {"site": "lyon", "wait": 3.5, "completion": 0.0, "width": 8},
            },
        )

    def test_whatever_comes_in_its_place_is_read_or_refused(self):
        dice = random.Random(1)
        for _ in range(5000):
            raw = dice.randbytes(dice.randrange(40))
            with contextlib.suppress(ValueError):  # UnicodeDecodeError is one
                detail.decode(base64.b64encode(raw).decode())


if __name__ == "__main__":
    unittest.main()
