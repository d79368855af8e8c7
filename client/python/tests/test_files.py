"""Bad input, and files, on a real grid."""

import hashlib
import http.client
import os
import pathlib
import socket
import struct
import subprocess
import sys
import time
import unittest
import unittest.mock

import drover
from drover.scope import Scope

from .grid import ClientTest, GridTest, post


setUpModule = GridTest.up


class BadInput(ClientTest):
    def refused(self, reason, field, call, *args, **kwargs):
        with self.assertRaises(drover.GridError) as caught:
            call(*args, **kwargs)
        e = caught.exception
        self.assertEqual((e.reason, e.field), (reason, field), str(e))
        return e

    def test_refusals_say_what_would_have_been_accepted(self):
        e = self.refused("unknown-service", "request.service", self.client.call, "nope")
        self.assertEqual((e.accepted, e.retryable), ("one of arrays, copy, sleep, talk", False))
        self.assertTrue(e.hint)
        self.refused("wrong-type", "request.arguments.seconds", self.client.call, "sleep", seconds="long")
        self.refused("unknown-argument", "request.arguments.width", self.client.call, "sleep", width=1)
        self.refused("missing-argument", "request.arguments.word", self.client.call, "talk")
        self.refused("too-wide", "request.width", self.client.call, "sleep", processors=99)
        self.refused("wrong-type", "request.arguments.seconds", self.client.call, "sleep", seconds=[1])
        self.refused("out-of-range", "request.arguments.code", self.client.call, "talk", code=1 << 63)
        self.refused("out-of-range", "request.width", self.client.call, "sleep", drover.Options(width=0))
        self.refused("bad-value", "job_id", self.client.job, "last")
        self.refused("unknown-job", "job_id", self.client.job, drover.new_job_id())

    def test_the_server_checks_the_ranges_of_options(self):
        for options, reason, field in (
            ({"walltime": 0}, "out-of-range", "request.walltime"),
            ({"memory": -1}, "out-of-range", "request.memory_bytes"),
            ({"cpu": 1.5}, "out-of-range", "request.cpu"),
            ({"licenses": {"matlab": 0}}, "out-of-range", "request.licenses"),
            ({"shapes": [(0, 5)]}, "out-of-range", "request.shapes"),
            ({"retries": 101}, "out-of-range", "request.retries"),
            ({"retries": -1}, "out-of-range", "request.retries"),
            ({"retry_on": [1]}, "bad-value", "request.retry_on"),
            ({"retries": 1, "retry_on": [256]}, "out-of-range", "request.retry_on"),
        ):
            with self.subTest(options), self.assertRaises(drover.GridError) as caught:
                self.client.submit("sleep", drover.Options(**options), seconds=0)
            e = caught.exception
            self.assertEqual((e.reason, e.field.split("[")[0].split(".matlab")[0]), (reason, field), e)

    def test_a_missing_file_is_a_file_error(self):
        with self.assertRaisesRegex(drover.FileError, "No such file"):
            self.client.call("copy", source=pathlib.Path("/nonexistent"))

    def test_an_output_that_is_not_there_is_said_so_and_leaves_nothing(self):
        job = self.client.submit("copy", source=b"x").wait()
        d = self.scratch()
        e = self.refused("unknown-output", "argument", job.download, "copie", d / "x")
        self.assertIn("copy", e.accepted)
        self.assertEqual(list(d.iterdir()), [])

    def test_malformed_json_is_refused_by_name(self):
        for base, method in ((self.grid.agent, "AgentService/Map"), (self.server("lyon"), "ServerService/Submit")):
            for body in (b'{"request": {"service"', b"[]", b'{"request": 3}', b"\xff", b"{" * 100_000):
                status, answer = post(base, method, body)
                self.assertEqual((status, answer["code"]), (400, "invalid_argument"), answer)
                self.assertEqual(answer["details"][0]["debug"]["reason"], "bad-value", answer)
                self.assertNotRegex(answer["message"], "droverv1|unmarshal|proto:")
        call = self.client._wire.call, self.grid.agent, "drover.v1.AgentService", "Map"
        self.refused("bad-value", "", *call, {"request": 3}, Scope(), 5)
        e = self.refused("bad-value", "request.widht", *call, {"request": {"widht": 3}}, Scope(), 5)
        self.assertIn("width", e.accepted)

    def test_a_text_that_is_too_long_is_refused(self):
        e = self.refused("too-large", "request.arguments.word", self.client.call, "talk", word="x" * (9 << 20))
        self.assertIn("file", e.hint)
        with self.assertRaises(drover.GridError):
            self.client.call("talk", word="x" * (5 << 20))

    def test_a_url_of_another_process_is_refused(self):
        with drover.Client([self.server("lyon")]) as stray:
            self.refused("unreachable", "", stray.sites)
        self.refused("bad-value", "agents[0]", drover.Client, ["https://there"])


class Files(ClientTest):
    def test_an_upload_goes_on_where_another_one_broke(self):
        host, port = self.server("lyon").split("//")[1].split(":")
        content = os.urandom(1 << 20)
        sha256 = hashlib.sha256(content).hexdigest()
        wire, url = self.client._wire, self.server("lyon")
        self.assertEqual(wire.arrived(url, sha256, len(content), Scope(), 5), (False, 0))
        with socket.create_connection((host, int(port)), 5) as s:
            s.sendall(b"PUT /v1/content/%s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % (sha256.encode(), len(content)))
            s.sendall(content[:700_000])
        for _ in range(200):
            have = wire.arrived(url, sha256, len(content), Scope(), 5)
            if have == (False, 700_000):
                break
            time.sleep(0.02)
        self.assertEqual(have, (False, 700_000))
        offsets, send = [], wire.send
        with unittest.mock.patch.object(wire, "send", lambda *a: (offsets.append(a[3]), send(*a))):
            for _ in range(2):
                self.client._bring(url, drover.values.Content(content, "f"), Scope())
        self.assertEqual(offsets, [700_000])
        self.assertEqual(wire.arrived(url, sha256, len(content), Scope(), 5), (True, len(content)))

    def test_a_wrong_beginning_is_sent_again(self):
        content = os.urandom(1000)
        sha256 = hashlib.sha256(content).hexdigest()
        wire, url = self.client._wire, self.server("lyon")
        c = http.client.HTTPConnection(url.split("//")[1], timeout=5)
        self.addCleanup(c.close)
        c.request("PUT", f"/v1/content/{sha256}", b"forged", {"Content-Range": "bytes 0-5/1000"})
        self.assertEqual(c.getresponse().status, 202)
        self.client._bring(url, drover.values.Content(content, "f"), Scope())
        self.assertEqual(wire.arrived(url, sha256, 1000, Scope(), 5), (True, 1000))

    def test_a_download_begins_at_an_offset(self):
        job = self.client.call("copy", source=b"0123456789")
        for offset in (0, 4, 10):
            self.assertEqual(b"".join(self.client._output(self.server(job.site), job.id, "copy", offset)), b"0123456789"[offset:])

    def test_content_that_does_not_fit_its_checksum_is_refused(self):
        for sha256 in ("0" * 64, "x"):
            with self.assertRaises(drover.GridError) as caught:
                self.client._wire.send(self.server("lyon"), sha256, 1, 0, iter([b"A"]), Scope())
            self.assertEqual((caught.exception.reason, caught.exception.field), ("bad-value", "sha256"))

    def test_a_refusal_ends_an_upload_early(self):
        sent = 0

        def pieces():
            nonlocal sent
            for _ in range(400):
                sent += 1
                yield b"ABC" * 65536

        with self.assertRaises(drover.GridError) as caught:
            self.client._wire.send(self.server("lyon"), "0" * 64, 1 << 50, 0, pieces(), Scope())
        self.assertEqual((caught.exception.reason, caught.exception.field), ("too-large", "size_bytes"))
        self.assertLess(sent, 400)

    def test_a_large_file_goes_there_and_back_in_flat_memory(self):
        d = self.scratch()
        block = os.urandom(1 << 20)
        with open(d / "in", "wb") as f:
            for i in range(100):
                f.write(i.to_bytes(4, "big") + block[4:])
        script = (
            "import drover, pathlib, resource, sys\n"
            "g = drover.Client([sys.argv[1]])\n"
            "g.call('copy', source=b'small').read('copy')\n"
            "peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
            "before = peak()\n"
            "g.call('copy', source=pathlib.Path(sys.argv[2]), copy=drover.Output(sys.argv[3]))\n"
            "print((peak() - before) // 1024)\n"
        )
        run = subprocess.run(
            [sys.executable, "-c", script, self.grid.agent, d / "in", d / "out"], capture_output=True, text=True, timeout=120
        )
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertLess(int(run.stdout), 16, "MiB more than for a small file")
        self.assertEqual(digest(d / "in"), digest(d / "out"))


def digest(path):
    h = hashlib.sha256()
    with open(path, "rb") as f:
        for piece in iter(lambda: f.read(1 << 20), b""):
            h.update(piece)
    return h.hexdigest()


if __name__ == "__main__":
    unittest.main()
