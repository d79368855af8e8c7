// Package npy reads and writes the headers of NumPy's files of one array, .npy.
//
//	\x93NUMPY │ version │ size of the header │ {'descr': '<f8', ...}   \n │ elements
//	  6 bytes │ 2 bytes │ 2 bytes, later 4   │ a Python literal            │ row by row
//
// The elements behind the header are a block as Drover transfers it: a file is sent
// without its header, and a fetched block gets one. Only files with such a block are
// accepted: one or two dimensions, little-endian numbers of the types that services
// take, in C order. Any other file is a [*FormatError], which says how to convert it
// with NumPy.
//
// The library github.com/sbinet/npyio (v0.6.0) does not serve here: it has no way to
// write a header without the elements, allocates whatever size a header claims, and
// brings gonum/mat into the client.
//
// Source: NumPy Enhancement Proposal 1, and numpy.lib.format for versions 2 and 3.
package npy
