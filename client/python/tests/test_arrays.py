"""Vectors and matrices: by themselves, and through a real grid."""

import array
import os
import pathlib
import struct
import tempfile
import unittest

import drover
from drover import arrays, npy
from drover.values import content_of

from .grid import GridTest

setUpModule = GridTest.up


def bytes_of(content):
    return b"".join(content.pieces())


class Values(unittest.TestCase):
    def block(self, value, element="float64", type="vector-in"):
        argument = drover.Argument("a", "", type, True, None, {}, element)
        return content_of("a", value, lambda: drover.Service("s", "", [argument], [], {}))

    def refused(self, reason, value, *about):
        with self.assertRaises(drover.GridError) as caught:
            self.block(value, *about)
        self.assertEqual((caught.exception.reason, caught.exception.field), (reason, "request.arguments.a"), caught.exception)
        self.assertTrue(caught.exception.accepted)

    def test_buffers_are_blocks_of_what_they_hold(self):
        for code, element in (("d", "float64"), ("f", "float32"), ("q", "int64"), ("i", "int32"), ("B", "uint8")):
            data = array.array(code, [1, 2, 3, 4, 5, 6])
            c = self.block(data)
            self.assertEqual((c.array, bytes_of(c)), ((element, [6]), data.tobytes()))
            two = memoryview(data).cast("B").cast(code, (2, 3))
            c = self.block(two)
            self.assertEqual((c.array, bytes_of(c)), ((element, [2, 3]), data.tobytes()))
        self.assertEqual(bytes_of(self.block(memoryview(array.array("i", range(6)))[::2])), struct.pack("<3i", 0, 2, 4))
        self.assertEqual(self.block(array.array("d")).array, ("float64", [0]))

    def test_a_large_buffer_is_sent_from_where_it_is(self):
        data = array.array("d", bytes(8 << 20))
        pieces = list(self.block(data).pieces(8))
        self.assertTrue(all(p.obj is data for p in pieces))
        self.assertEqual(sum(len(p) for p in pieces), (8 << 20) - 8)

    def test_lists_are_of_the_type_that_the_service_wants(self):
        for value, about, want in (
            ([1, 2.5], ("float64", "vector-in"), struct.pack("<2d", 1, 2.5)),
            ((1, 2), ("int32", "vector-inout"), struct.pack("<2i", 1, 2)),
            ([[1, 2], [3, 4]], ("float32", "matrix-in"), struct.pack("<4f", 1, 2, 3, 4)),
            ([1, 2j], ("complex128", "vector-in"), struct.pack("<4d", 1, 0, 0, 2)),
            ([[], []], ("uint8", "matrix-inout"), b""),
            ([], ("int64", "vector-in"), b""),
        ):
            c = self.block(value, *about)
            self.assertEqual(bytes_of(c), want, value)
            self.assertEqual(c.array[0], about[0])
        self.assertEqual(self.block([[], []], "uint8", "matrix-in").array[1], [2, 0])

    def test_what_is_no_array_is_refused(self):
        self.refused("wrong-dimensions", [[1, 2], [3]], "float64", "matrix-in")
        self.refused("wrong-type", [1, 2], "float64", "matrix-in")
        self.refused("wrong-type", [[1], 2], "float64", "matrix-in")
        self.refused("wrong-type", [[1, 2]], "float64", "vector-in")
        self.refused("wrong-type", ["1"], "float64", "vector-in")
        self.refused("wrong-type", ["1"], "complex128", "vector-in")
        self.refused("wrong-type", [None], "float64", "vector-in")
        self.refused("wrong-type", [1.5], "int64", "vector-in")
        self.refused("wrong-type", [256], "uint8", "vector-in")
        self.refused("wrong-type", [1 << 31], "int32", "vector-in")
        self.refused("wrong-type", [1], "bfloat16", "vector-in")
        self.refused("wrong-type", array.array("H", [1]))
        self.refused("wrong-type", array.array("L", [1]))
        self.refused("wrong-dimensions", memoryview(bytes(8)).cast("B", (2, 2, 2)))
        self.assertIsNone(self.block([1], "", "float"))

    def test_a_matrix_knows_its_rows(self):
        m = drover.Matrix(2, 3, array.array("d", range(6)))
        self.assertEqual((m[1, 0], m.tolist(), m.view().shape), (3.0, [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]], (2, 3)))
        m[1, 0] = 7
        self.assertEqual(m.view()[1, 0], 7.0)
        for at in ((2, 0), (0, 3), (-1, 0)):
            with self.assertRaises(IndexError):
                m[at]
        self.assertEqual(self.block(m).array, ("float64", [2, 3]))
        z = drover.Matrix(1, 2, [1j, 2])
        self.assertEqual(bytes_of(self.block(z)), struct.pack("<4d", 0, 1, 2, 0))
        with self.assertRaises(drover.GridError):
            drover.Matrix(2, 2, array.array("d", range(3)))

    def test_what_comes_has_to_be_what_was_announced(self):
        for element, dimensions, size in (("float64", [2, 2], 24), ("float16", [1], 2), ("float64", [], 8), ("float64", [-1], -8)):
            with self.assertRaises(drover.GridError):
                arrays.Gathering(element, dimensions, size)
        g = arrays.Gathering("int32", [2], 8)
        g.add(b"\1\0\0")
        with self.assertRaisesRegex(drover.GridError, "3 bytes of 8"):
            g.whole()
        g.add(b"\0\2\0\0\0")
        self.assertEqual(g.whole(), array.array("i", [1, 2]))
        with self.assertRaisesRegex(drover.GridError, "more than 8"):
            g.add(b"\0")

    def test_files_of_numpy_are_read_and_written(self):
        with tempfile.TemporaryDirectory() as d:
            path = pathlib.Path(d, "a.npy")
            path.write_bytes(npy.header("float64", [1, 2]) + struct.pack("<2d", 1, 2))
            self.assertEqual(npy.read(path), ("float64", [1, 2], 128))
            c = self.block(path, "float64", "matrix-in")
            self.assertEqual((c.array, bytes_of(c)), (("float64", [1, 2]), struct.pack("<2d", 1, 2)))
            self.assertIsNone(self.block(path, "", "file-in").array, "of a file argument it is a file")
            good = npy.header("float64", [2, 2]) + bytes(32)
            for bad, says in (
                (b"", "begin"), (good[:6], "begin"), (good[:9], "npy"), (good[:40], "npy"), (good[:-1], "31 bytes"), (good + b"x", "33 bytes"), (good.replace(b"<f8", b">f8"), "elements are"),
                (good.replace(b"False", b"True "), "Fortran"), (good.replace(b"(2, 2)", b"(-2,2)"), "shape"), (good.replace(b"(2, 2)", b"__(2,)"), "npy"),
                (good.replace(b"'shape'", b"'sharp'"), "shape"), (good[:6] + b"\x09" + good[7:], "version 9"),
                (good[:6] + b"\x02\0" + b"\xff" * 4 + good[12:], "at most"),
                (good.replace(b"{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), }", b"(" * 59), "npy"),
            ):
                path.write_bytes(bad)
                with self.assertRaisesRegex(drover.FileError, says):
                    self.block(path, "float64", "matrix-in")


class ThroughAGrid(GridTest):
    def setUp(self):
        self.client = drover.Client([self.grid.agent])
        self.addCleanup(self.client.close)

    def test_arrays_go_there_and_back(self):
        a, c = drover.Matrix(2, 3, array.array("d", range(6))), [[9, 9, 9], [9, 9, 0.5]]
        job = self.client.call("arrays", a=a.view(), v=[-7, 8], z=[1j, -2], c=c, notes=b"it")
        self.assertEqual(job.array("c"), a)
        self.assertEqual(job.array("before").tolist(), c)
        self.assertEqual(job.array("copy"), array.array("i", [-7, 8]))
        self.assertEqual(job.array("same"), [1j, -2 + 0j])
        self.assertEqual(job.read("notes"), b"it 2x3 changed")
        self.assertEqual(job.read("c"), a.data.tobytes())
        self.assertEqual((job.outputs["c"].element, job.outputs["c"].dimensions), ("float64", (2, 3)))
        with self.assertRaisesRegex(drover.GridError, "is a file"):
            job.array("notes")
        with self.assertRaises(drover.GridError) as caught:
            job.array("nothing")
        self.assertEqual(caught.exception.reason, "unknown-output")

    def test_files_of_numpy_go_there_and_back(self):
        with tempfile.TemporaryDirectory() as d:
            d = pathlib.Path(d)
            header, block = npy.header("float64", [2, 2]), struct.pack("<4d", 1, 2, 3, 4)
            (d / "a.npy").write_bytes(header + block)
            (d / "c.npy").write_bytes(header + bytes(32))
            self.client.call(
                "arrays", a=d / "a.npy", v=[], z=[], c=drover.Output(d / "c.npy", d / "c.npy"),
                notes=drover.Output(d / "notes", b""), before=drover.Output(d / "before.raw"), copy=drover.Output(d / "copy.npy"),
            )
            self.assertEqual((d / "c.npy").read_bytes(), header + block)
            self.assertEqual((d / "before.raw").read_bytes(), bytes(32))
            self.assertEqual((d / "copy.npy").read_bytes(), npy.header("int32", [0]))
            self.assertEqual((d / "notes").read_bytes(), b" 2x2 changed")

    def test_what_does_not_fit_is_refused(self):
        good = {"a": [[1, 2]], "v": [1], "z": [], "c": [[3, 4]], "notes": b""}
        for reason, name, value in (
            ("wrong-dimensions", "c", [[1], [2]]), ("wrong-type", "a", array.array("f", [1])), ("wrong-type", "v", array.array("d", [1])),
            ("wrong-type", "a", array.array("d", [1])), ("wrong-type", "notes", [1]), ("wrong-type", "v", b"1234"), ("wrong-type", "v", "1"),
        ):
            with self.assertRaises(drover.GridError) as caught:
                self.client.call("arrays", **{**good, name: value})
            e = caught.exception
            self.assertEqual((e.reason, e.field), (reason, "request.arguments." + name), e)
        with self.assertRaises(drover.GridError) as caught:
            self.client.call("none", a=[1])
        self.assertEqual(caught.exception.reason, "unknown-service")
        with self.assertRaises(drover.GridError) as caught:
            self.client.call("arrays", **good, other=[[1]])
        self.assertEqual(caught.exception.reason, "unknown-argument")

    def test_a_large_matrix_goes_there_and_back(self):
        a = array.array("d", os.urandom(64) * (1 << 17))
        wide = memoryview(a).cast("B").cast("d", (1024, 1024))
        job = self.client.call("arrays", a=wide, v=[], z=[], c=wide, notes=b"")
        self.assertEqual(bytes(memoryview(job.array("c").data)), a.tobytes())


if __name__ == "__main__":
    unittest.main()
