package blobs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Pin makes content stay however full the store is, until Unpin was called as often
// as Pin. It does not count against the capacity meanwhile: who pins bounds what he
// pins. It returns ErrUnknown when the store does not have it.
func (s *Store) Pin(sha string) (Blob, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.known[sha]
	if e == nil {
		return Blob{}, ErrUnknown
	}
	s.pin(e)
	return e.Blob, nil
}

// pin is Pin for callers that hold s.mu.
func (s *Store) pin(e *entry) {
	if e.pins++; e.pins > 1 {
		return
	}
	s.order.Remove(e.at)
	e.at = nil
	s.used -= e.Size
}

// Unpin takes one pin away. Content without any is the one used last, and goes like
// all other when the store is full. Content that has no pin is left as it is.
func (s *Store) Unpin(sha string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.known[sha]
	if e == nil || e.pins == 0 {
		return nil
	}
	if e.pins--; e.pins > 0 {
		return nil
	}
	e.at = s.order.PushBack(e)
	s.used += e.Size
	if err := s.shrink(s.config.Capacity); err != nil {
		return fmt.Errorf("make room for content: %w", err)
	}
	return nil
}

// File opens content for reading, or returns ErrUnknown. What is open can be read to
// its end, whatever becomes of it in the store.
func (s *Store) File(sha string) (*os.File, Blob, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.known[sha]
	if e == nil {
		return nil, Blob{}, ErrUnknown
	}
	s.touch(e)
	f, err := os.Open(s.path(sha))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, Blob{}, ErrUnknown
	}
	if err != nil {
		return nil, Blob{}, fmt.Errorf("open content: %w", err)
	}
	return f, e.Blob, nil
}
