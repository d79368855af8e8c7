package gemm

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/seed-9b8f70bb/drover/server/services"
)

// matrix is a matrix in row-major order.
type matrix struct {
	rows, cols int
	data       []float64
}

func newMatrix(rows, cols int) matrix { return matrix{rows, cols, make([]float64, rows*cols)} }

// elementSize is the size of an element in a file, in bytes.
const elementSize = 8

// read reads a matrix from a file, which must have exactly the matrix's size.
func read(ctx context.Context, argument, path string, rows, cols int) (matrix, error) {
	f, err := os.Open(path)
	if err != nil {
		return matrix{}, fmt.Errorf("%s: %w", argument, err)
	}
	defer f.Close() // read only
	info, err := f.Stat()
	if err != nil {
		return matrix{}, fmt.Errorf("%s: %w", argument, err)
	}
	if want := int64(rows) * int64(cols) * elementSize; info.Size() != want {
		return matrix{}, &services.ArgumentError{
			Argument: argument, Got: fmt.Sprintf("%d bytes", info.Size()),
			Accepted: fmt.Sprintf("%d bytes: %d x %d numbers",
				want, rows, cols),
		}
	}
	m := newMatrix(rows, cols)
	buf := make([]byte, pieceSize)
	for left := m.data; len(left) > 0; {
		if err := ctx.Err(); err != nil {
			return matrix{}, fmt.Errorf("%s: %w", argument, err)
		}
		n := min(len(buf)/elementSize, len(left))
		piece := buf[:n*elementSize]
		if _, err := io.ReadFull(f, piece); err != nil {
			return matrix{}, fmt.Errorf("%s: %w", argument, err)
		}
		for i := range left[:n] {
			left[i] = math.Float64frombits(binary.LittleEndian.Uint64(piece[i*elementSize:]))
		}
		left = left[n:]
	}
	return m, nil
}

// pieceSize is the size of one read or write, in bytes.
const pieceSize = 1 << 20

// write replaces a file by a matrix, atomically.
func write(path string, m matrix) error {
	return services.WriteOutput(path, func(w io.Writer) error {
		out := bufio.NewWriterSize(w, pieceSize)
		var b [elementSize]byte
		for _, v := range m.data {
			binary.LittleEndian.PutUint64(b[:], math.Float64bits(v))
			if _, err := out.Write(b[:]); err != nil {
				return err
			}
		}
		return out.Flush()
	})
}
