package blobs

import (
	"container/list"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"time"
)

// Blob is stored content.
type Blob struct {
	SHA256 string // 64 lower-case hexadecimal digits
	Size   int64  // bytes
}

// Want is what the sender announces about content. The zero Want announces nothing.
type Want struct {
	SHA256 string
	Size   int64 // bytes; 0 if unknown
	// Offset is where the sender begins; above 0 it needs the other two fields. What has arrived
	// before the offset is kept, what is behind it is dropped.
	Offset int64
	// Part says that the sender may stop before the end of the content.
	Part bool
}

// Config bounds a store. Sizes are in bytes, at least 1.
type Config struct {
	Dir      string // created if missing
	Largest  int64  // of one content
	Capacity int64  // of all content without pins
	// Pinned lists content that has pins from the beginning, one for each time it is listed.
	// Missing content is skipped.
	Pinned []string
}

// Store keeps content in a directory. Its methods can be called concurrently.
type Store struct {
	config Config

	mu    sync.Mutex
	known map[string]*entry // by SHA-256
	order *list.List        // of *entry without pins, least recently used first
	used  int64             // by entries without pins

	now      func() time.Time
	arriving map[Blob]*arrival // by the complete content
}

var (
	digits = regexp.MustCompile(`^[0-9a-f]{64}$`)
	// incoming is the name pattern of incomplete files.
	incoming = "new-*"
)

// IsSHA256 reports whether s has the form of a Blob's name.
func IsSHA256(s string) bool { return digits.MatchString(s) }

// Open loads the store in a directory and removes incomplete files.
func Open(c Config) (*Store, error) {
	if c.Largest < 1 || c.Capacity < 1 {
		return nil, fmt.Errorf("content store: limits of %d and %d bytes, accepted: at least 1", c.Largest, c.Capacity)
	}
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("content store: %w", err)
	}
	s := &Store{
		config: c, known: make(map[string]*entry), order: list.New(), now: time.Now,
		arriving: make(map[Blob]*arrival),
	}
	half, err := filepath.Glob(filepath.Join(c.Dir, incoming))
	if err != nil {
		return nil, fmt.Errorf("content store: %w", err)
	}
	for _, name := range half {
		if err := os.Remove(name); err != nil {
			return nil, fmt.Errorf("content store: %w", err)
		}
	}
	if err := errors.Join(s.scan(), s.resume()); err != nil {
		return nil, fmt.Errorf("content store: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, sha := range c.Pinned {
		if e := s.known[sha]; e != nil {
			s.pin(e)
		}
	}
	return s, s.shrink(c.Capacity)
}

// scan loads the files, the oldest first.
func (s *Store) scan() error {
	type file struct {
		Blob
		made time.Time
	}
	var files []file
	err := filepath.WalkDir(s.config.Dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || !IsSHA256(d.Name()) {
			return err
		}
		info, err := d.Info()
		if err == nil {
			files = append(files, file{Blob{d.Name(), info.Size()}, info.ModTime()})
		}
		return err
	})
	slices.SortStableFunc(files, func(a, b file) int { return a.made.Compare(b.made) })
	for _, f := range files {
		s.enter(f.Blob)
	}
	return err
}

// keep moves a complete file to its place, unless the store has the same content.
func (s *Store) keep(name string, b Blob) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.known[b.SHA256]; e != nil {
		s.touch(e)
		return os.Remove(name)
	}
	if err := s.shrink(s.config.Capacity - b.Size); err != nil {
		return err
	}
	if err := os.Chmod(name, 0o400); err != nil {
		return err
	}
	place := s.path(b.SHA256)
	if err := os.MkdirAll(filepath.Dir(place), 0o700); err != nil {
		return err
	}
	if err := os.Rename(name, place); err != nil {
		return err
	}
	s.enter(b)
	return nil
}

// enter adds content as the most recently used; s.mu is held, or the caller has exclusive access.
func (s *Store) enter(b Blob) {
	if s.known[b.SHA256] == nil {
		e := &entry{Blob: b}
		s.known[b.SHA256] = e
		e.at = s.order.PushBack(e)
		s.used += b.Size
	}
}

// entry is stored content.
type entry struct {
	Blob
	pins int
	at   *list.Element // in the store's order; nil while pinned
}

// touch marks content as used; s.mu is held.
func (s *Store) touch(e *entry) {
	if e.at != nil {
		s.order.MoveToBack(e.at)
	}
}

// shrink evicts the least recently used content until at most the given number of bytes are left;
// s.mu is held.
func (s *Store) shrink(limit int64) error {
	for s.used > limit && s.order.Len() > 0 {
		oldest := s.order.Front()
		b := oldest.Value.(*entry).Blob
		if err := os.Remove(s.path(b.SHA256)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		s.order.Remove(oldest)
		delete(s.known, b.SHA256)
		s.used -= b.Size
	}
	return nil
}

// Find returns content by its name, or ErrUnknown.
func (s *Store) Find(sha string) (Blob, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.known[sha]
	if e == nil {
		return Blob{}, ErrUnknown
	}
	s.touch(e)
	return e.Blob, nil
}

// Link creates a read-only file with the content in an existing directory: a hard link, or a copy
// where hard links are impossible. It returns ErrUnknown if the store does not have the content.
func (s *Store) Link(sha, name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.known[sha]
	if e == nil {
		return ErrUnknown
	}
	s.touch(e)
	linked := os.Link(s.path(sha), name)
	switch {
	case linked == nil:
		return nil
	case errors.Is(linked, fs.ErrNotExist) || errors.Is(linked, fs.ErrExist):
		return fmt.Errorf("link content: %w", linked)
	}
	if err := copyFile(s.path(sha), name); err != nil {
		return fmt.Errorf("link content: %w; copy it: %w", linked, err)
	}
	return nil
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o400)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

func (s *Store) path(sha string) string { return filepath.Join(s.config.Dir, sha[:2], sha) }
