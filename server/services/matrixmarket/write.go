package matrixmarket

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Write writes m with the given comment lines. Values have as many digits as are needed to
// read the same float64 back. If m or a comment is invalid, Write writes nothing.
func Write(w io.Writer, m *Matrix, comments ...string) error {
	if err := m.Validate(); err != nil {
		return fmt.Errorf("write matrix: %w", err)
	}
	for i, c := range comments {
		if len(c) > MaxLine/2 || strings.ContainsAny(c, "\r\n") {
			return fmt.Errorf("write matrix: comment %d: accepted: one line of at most %d bytes", i, MaxLine/2)
		}
	}

	// A buffered writer keeps its first error until Flush.
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "%%%%MatrixMarket matrix %s\n", m.header())
	for _, c := range comments {
		fmt.Fprintf(out, "%% %s\n", c)
	}
	var line []byte
	if m.Format == Array {
		fmt.Fprintf(out, "%d %d\n", m.Rows, m.Cols)
		for _, v := range m.Values {
			line = m.appendValue(line[:0], v)
			_, _ = out.Write(append(line, '\n'))
		}
	} else {
		fmt.Fprintf(out, "%d %d %d\n", m.Rows, m.Cols, len(m.Entries))
		for _, e := range m.Entries {
			line = strconv.AppendInt(line[:0], int64(e.Row)+1, 10)
			line = append(line, ' ')
			line = strconv.AppendInt(line, int64(e.Col)+1, 10)
			if m.Field != Pattern {
				line = m.appendValue(append(line, ' '), e.Value)
			}
			_, _ = out.Write(append(line, '\n'))
		}
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write matrix: %w", err)
	}
	return nil
}

func (m *Matrix) appendValue(to []byte, v float64) []byte {
	if m.Field == Integer {
		return strconv.AppendInt(to, int64(v), 10)
	}
	return strconv.AppendFloat(to, v, 'g', -1, 64)
}
