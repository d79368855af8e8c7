package blobs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Pin protects content from eviction until Unpin was called as often as Pin. Pinned content does
// not count against the capacity, so the caller must bound what it pins. Pin returns ErrUnknown if
// the store does not have the content.
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

// Unpin removes one pin. Content without pins is the most recently used and can be evicted. Content
// without a pin is left unchanged.
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
		return fmt.Errorf("evict content: %w", err)
	}
	return nil
}

// File opens content for reading, or returns ErrUnknown. An open file can be read to its end even
// if the content is evicted.
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
