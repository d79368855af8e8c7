package client

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// largestElement is the size of the largest element, bytes.
const largestElement = 16

// source reads elements as they travel, straight from where they are: there is no
// second copy of them. It is an io.ReadSeeker.
type source[T Element] struct {
	data []T
	at   int64 // bytes
}

func (s *source[T]) Read(p []byte) (int, error) {
	size := elementType[T]().Size()
	total := size * int64(len(s.data))
	if s.at >= total {
		return 0, io.EOF
	}
	n := 0
	for n < len(p) && s.at < total {
		i, within := s.at/size, s.at%size
		step := 0
		if whole := min(int64(len(p)-n)/size, int64(len(s.data))-i); within == 0 && whole > 0 {
			encode(p[n:], s.data[i:i+whole])
			step = int(whole * size)
		} else {
			var one [largestElement]byte
			encode(one[:], s.data[i:i+1])
			step = copy(p[n:], one[within:size])
		}
		n += step
		s.at += int64(step)
	}
	return n, nil
}

func (s *source[T]) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += s.at
	case io.SeekEnd:
		offset += elementType[T]().Size() * int64(len(s.data))
	}
	if offset < 0 {
		return 0, fmt.Errorf("seek to %d: %w", offset, fs.ErrInvalid)
	}
	s.at = offset
	return offset, nil
}

func (s *source[T]) Close() error { return nil }

// errMore is more content than was announced.
var errMore = errors.New("the site sends more than it has announced")

// gathered takes elements as they travel.
type gathered[T Element] struct {
	data []T
	n    int // elements that are there
	rest [largestElement]byte
	have int // bytes of the next one
}

func (g *gathered[T]) Write(p []byte) (int, error) {
	size := int(elementType[T]().Size())
	for took := 0; took < len(p); {
		if g.n == len(g.data) {
			return took, errMore
		}
		if whole := min((len(p)-took)/size, len(g.data)-g.n); g.have == 0 && whole > 0 {
			decode(g.data[g.n:g.n+whole], p[took:])
			g.n += whole
			took += whole * size
			continue
		}
		k := copy(g.rest[g.have:size], p[took:])
		took += k
		if g.have += k; g.have == size {
			decode(g.data[g.n:g.n+1], g.rest[:])
			g.n++
			g.have = 0
		}
	}
	return len(p), nil
}
