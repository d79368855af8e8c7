package blobs

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
)

// pieceSize is the size of one read from the sender, in bytes.
const pieceSize = 256 << 10

// Add stores the content that r returns; it does not read content that the store has. Errors are a
// *SizeError, a *MismatchError, an *OffsetError, ErrArriving, ErrTaken, a *PartError, r's own, or
// the file system's. After r's own error and a *PartError the store keeps what has arrived, if Want
// has a SHA256 and a Size.
func (s *Store) Add(r io.Reader, want Want) (Blob, error) {
	b, err := s.add(r, want)
	if err != nil {
		return Blob{}, fmt.Errorf("store content: %w", err)
	}
	return b, nil
}

func (s *Store) add(r io.Reader, want Want) (Blob, error) {
	largest := min(s.config.Largest, s.config.Capacity)
	if want.Size > largest {
		return Blob{}, &SizeError{Limit: largest}
	}
	if b, err := s.Find(want.SHA256); err == nil && (want.Size == 0 || want.Size == b.Size) {
		return b, nil
	}
	if want.SHA256 != "" && want.Size > 0 {
		switch a, err := s.claim(want); {
		case err != nil:
			return Blob{}, err
		case a != nil:
			return s.arrive(a, r, want)
		}
	}
	f, err := os.CreateTemp(s.config.Dir, incoming)
	if err != nil {
		return Blob{}, err
	}
	b, err := receive(&writer{f: f, hash: sha256.New()}, r, want, largest)
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = s.keep(f.Name(), b)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // fails if the file was kept
	}
	return b, err
}

// target receives content.
type target interface {
	io.Writer
	// waits is called before each read from the sender.
	waits()
	// size and blob describe what has been written, including what an earlier sender wrote.
	size() int64
	blob() Blob
}

// senderError is a failure of the sender: the content before it is good.
type senderError struct{ error }

func (e *senderError) Unwrap() error { return e.error }

// receive copies r to t and returns what it was, if that is the wanted content.
func receive(t target, r io.Reader, want Want, largest int64) (Blob, error) {
	if want.Size > 0 {
		largest = want.Size
	}
	buf := make([]byte, pieceSize)
	for {
		t.waits()
		n, err := r.Read(buf)
		if int64(n) > largest-t.size() {
			return Blob{}, tooMuch(want, largest)
		}
		if n > 0 {
			if _, err := t.Write(buf[:n]); err != nil {
				return Blob{}, err
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			b := t.blob()
			if want.Part && b.Size < want.Size {
				return b, &PartError{Have: b.Size}
			}
			return b, check(b, want)
		case err != nil:
			return Blob{}, &senderError{err}
		}
	}
}

func tooMuch(want Want, largest int64) error {
	if want.Size > 0 {
		return &MismatchError{Field: "size_bytes", Got: "larger", Want: fmt.Sprint(want.Size)}
	}
	return &SizeError{Limit: largest}
}

func check(b Blob, want Want) error {
	if want.Size > 0 && want.Size != b.Size {
		return &MismatchError{Field: "size_bytes", Got: fmt.Sprint(b.Size), Want: fmt.Sprint(want.Size)}
	}
	if want.SHA256 != "" && want.SHA256 != b.SHA256 {
		return &MismatchError{Field: "sha256", Got: b.SHA256, Want: want.SHA256}
	}
	return nil
}

// writer is a target that no other sender uses.
type writer struct {
	f    *os.File
	hash hash.Hash
	n    int64
}

// Write implements io.Writer.
func (w *writer) Write(p []byte) (int, error) {
	n, err := w.f.Write(p)
	_, _ = w.hash.Write(p[:n]) // never fails
	w.n += int64(n)
	return n, err
}

func (w *writer) waits() {}

func (w *writer) size() int64 { return w.n }

func (w *writer) blob() Blob {
	return Blob{SHA256: hex.EncodeToString(w.hash.Sum(nil)), Size: w.n}
}
