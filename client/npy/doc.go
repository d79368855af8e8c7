// Package npy reads and writes the header of NumPy's files of one array, .npy.
//
//	\x93NUMPY │ version │ size of the header │ {'descr': '<f8', ...}   \n │ elements
//	  6 bytes │ 2 bytes │ 2 bytes, later 4   │ a literal of Python's      │ rows, one after
//	                                                                      │ the other
//
// The elements behind the header are what Drover calls a block: so a file is sent
// without its header, and a block that is fetched gets one. Only what is a block is
// read: one or two dimensions, little-endian numbers of the types that services take,
// in C order. Anything else is a [*FormatError], which says how NumPy makes one of it.
//
// Source: NumPy Enhancement Proposal 1, and numpy.lib.format for versions 2 and 3.
package npy
