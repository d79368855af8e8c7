"""Data that stay at sites, against a real grid."""

import array
import pathlib
import tempfile
import unittest

import drover

from .grid import GridTest


setUpModule = GridTest.up

UNKNOWN = "01a20c55-1c7e-7a53-bb27-57e6f1e4b6a5"


class DataTest(GridTest):
    def setUp(self):
        self.client = drover.Client([self.grid.agent], owner="ada")
        self.addCleanup(self.client.close)
        d = tempfile.TemporaryDirectory()
        self.addCleanup(d.cleanup)
        self.dir = pathlib.Path(d.name)

    def refused(self, reason, call, *args, **named):
        with self.assertRaises(drover.GridError) as e:
            call(*args, **named)
        self.assertEqual(e.exception.reason, reason, e.exception)
        return e.exception

    def test_what_was_put_comes_back(self):
        words = b"some words\n" * 100_000
        (self.dir / "in").write_bytes(words)
        d = self.client.put_data(self.dir / "in", site="nancy", mode="sticky")
        self.assertEqual((d.name, d.size, d.mode, d.owner, d.site, d.copy), ("in", len(words), "sticky", "ada", "nancy", False))
        self.assertEqual(self.client.get_data(d), words)
        self.assertEqual(self.client.get_data(d.id, self.dir / "out"), b"")
        self.assertEqual((self.dir / "out").read_bytes(), words)
        self.assertEqual([x.id for x in self.client.list_data("id=" + d.id)], [d.id])
        self.assertEqual(self.client.remove_data(d), ["nancy"])
        self.refused("unknown-data", self.client.get_data, d, self.dir / "out")
        self.assertEqual(sorted(p.name for p in self.dir.iterdir()), ["in", "out"])

    def test_an_array_comes_back_as_one(self):
        d = self.client.put_data(drover.Matrix(1, 2, array.array("d", [1.5, -2])))
        self.addCleanup(self.client.remove_data, d)
        self.assertEqual((d.element, d.dimensions), ("float64", (1, 2)))
        self.assertEqual(self.client.get_array(d), drover.Matrix(1, 2, array.array("d", [1.5, -2])))
        self.client.get_data(d, self.dir / "m.npy")
        again = self.client.put_data(self.dir / "m.npy")
        self.addCleanup(self.client.remove_data, again)
        self.assertEqual((again.sha256, again.element, again.dimensions), (d.sha256, d.element, d.dimensions))
        vector = self.client.put_data(array.array("i", [1, 2, 3]))
        self.addCleanup(self.client.remove_data, vector)
        self.assertEqual(list(self.client.get_array(vector)), [1, 2, 3])
        self.refused("wrong-type", self.client.get_array, self.client.put_data(b"x", mode="volatile"))

    def test_a_job_runs_where_its_sticky_data_are(self):
        for site in ("nancy", "lyon"):
            d = self.client.put_data(b"to be copied", site=site, mode="sticky")
            self.addCleanup(self.client.remove_data, d)
            job = self.client.call("copy", source=d, copy=drover.Output(self.dir / site))
            self.assertEqual((job.site, (self.dir / site).read_bytes()), (site, b"to be copied"))

    def test_what_a_job_keeps_is_good_for_the_next_one(self):
        first = self.client.call("copy", drover.Options(keep={"source": "volatile", "copy": "persistent"}), source=b"from hand to hand")
        kept = first.kept["copy"]
        self.assertEqual((kept.mode, first.outputs["copy"].data), ("persistent", kept.id))
        second = self.client.call("copy", drover.Options(keep=["copy"]), source=kept, copy=drover.Output(self.dir / "out"))
        self.assertEqual((self.dir / "out").read_bytes(), b"from hand to hand")
        self.assertNotEqual(second.kept["copy"].id, kept.id)
        where = self.client.find_data(kept)
        self.assertEqual((where[0].job, where[0].size), (first.id, 17))
        for d in (kept, second.kept["copy"]):
            self.client.remove_data(d)

    def test_persistent_data_are_brought_to_another_site(self):
        d = self.client.put_data(b"everywhere", site="lyon")
        self.addCleanup(self.client.remove_data, d)
        copy = self.client.copy_data(d, "nancy")
        self.assertEqual((copy.site, copy.copy), ("nancy", True))
        self.assertEqual([(x.site, x.copy) for x in self.client.find_data(d)], [("lyon", False), ("nancy", True)])

    def test_bad_input_is_refused(self):
        c = self.client
        self.refused("bad-value", c.put_data, b"x", mode="eternal")
        self.refused("bad-value", c.put_data, b"x", id="7")
        self.refused("wrong-type", c.put_data, "words")
        self.refused("wrong-type", c.put_data, 7)
        self.refused("unknown-site", c.put_data, b"x", site="nowhere")
        self.refused("unknown-site", c.copy_data, UNKNOWN, "nowhere")
        self.refused("unknown-data", c.get_data, UNKNOWN)
        self.refused("unknown-data", c.submit, "copy", source=drover.Data(UNKNOWN))
        for bad in ("", "1", UNKNOWN.upper(), None, 7, drover.Data("..")):
            self.refused("bad-value", c.find_data, bad)
            self.refused("bad-value", c.remove_data, bad)
        with self.assertRaises(drover.FileError):
            c.put_data(self.dir / "none")
        for keep in ({"source": "eternal"}, [""], [7]):
            self.refused("bad-value", c.submit, "copy", drover.Options(keep=keep), source=b"x")
        self.refused("data-conflict", self.put_twice)

    def put_twice(self):
        d = self.client.put_data(b"first", site="lyon")
        self.addCleanup(self.client.remove_data, d)
        self.assertEqual(self.client.put_data(b"first", site="lyon", id=d.id).put, d.put)
        self.client.put_data(b"second", site="lyon", id=d.id)


if __name__ == "__main__":
    unittest.main()
