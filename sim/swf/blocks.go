package swf

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
)

const (
	// blockBytes is a compromise: small enough to stay in a core's cache with
	// the other blocks, large enough that handing over costs nothing.
	blockBytes = 128 << 10
	blockCount = 4
	// slack is how far the parser may load beyond the end of a block.
	slack = 8
	// inputBytes are read from the file at once.
	inputBytes = 64 << 10
)

var errLineTooLong = errors.New("line too long")

// block is a run of whole lines, each ended by a newline.
type block struct {
	text []byte // with at least slack bytes of capacity behind it
	err  error  // nothing follows: io.EOF, errLineTooLong, or a failure to read
}

// splitter cuts a stream into blocks, in a goroutine of its own.
type splitter struct {
	full chan block
	free chan []byte
	stop chan struct{} // closed by the receiver when it wants no more
	done chan struct{} // closed when r is no longer used
}

func split(r io.Reader) *splitter {
	s := &splitter{
		full: make(chan block, blockCount),
		free: make(chan []byte, blockCount),
		stop: make(chan struct{}),
		done: make(chan struct{}),
	}
	for range blockCount {
		s.free <- nil // allocated when first used: a small log needs only one
	}
	go s.run(r)
	return s
}

// close ends the goroutine and waits for it, so that the reader is its owner's
// again.
func (s *splitter) close() {
	close(s.stop)
	<-s.done
}

func (s *splitter) run(r io.Reader) {
	defer close(s.done)
	text, err := open(r)
	var rest []byte // of a line whose end has not been read
	for {
		var buf []byte
		select {
		case <-s.stop:
			return
		case buf = <-s.free:
		}
		if buf == nil {
			buf = make([]byte, blockBytes+1+slack)
		}
		n := copy(buf, rest)
		end := 0
		if err == nil {
			n, end, err = fill(text, buf, n)
		}
		if errors.Is(err, io.EOF) && end < n { // the last line has no newline
			buf[n] = '\n'
			n++
			end = n
		}
		// Nobody else writes to a block, and the next one is filled from its
		// start with this, so it may stay where it is until then.
		rest = buf[end:n]
		if err == nil && len(rest) > MaxLineBytes {
			err = errLineTooLong
		}
		s.full <- block{text: buf[:end], err: err} // has room for every block there is
		if err != nil {
			return
		}
	}
}

// fill reads into buf from n on until it is full or the stream ends. It
// returns where the bytes and where the last whole line end.
func fill(r io.Reader, buf []byte, n int) (filled, end int, err error) {
	for empty := 0; n < blockBytes && err == nil; {
		var m int
		m, err = r.Read(buf[n:blockBytes])
		n += m
		if m > 0 {
			empty = 0
		} else if empty++; err == nil && empty == 100 {
			err = io.ErrNoProgress
		}
	}
	return n, bytes.LastIndexByte(buf[:n], '\n') + 1, err
}

// open looks at the first bytes and inflates if they are gzip's.
func open(r io.Reader) (io.Reader, error) {
	in := bufio.NewReaderSize(r, inputBytes)
	magic, err := in.Peek(2)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if len(magic) < 2 || magic[0] != 0x1f || magic[1] != 0x8b {
		return in, nil
	}
	z, err := gzip.NewReader(in)
	if err != nil {
		return nil, fmt.Errorf("gzip header: %w", err)
	}
	return z, nil
}
