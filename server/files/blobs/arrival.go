package blobs

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Bounds of partial content that waits for the rest.
const (
	mostArrivals = 32
	longestHalf  = 24 * time.Hour
	// partial content may use 1/halfShare of the capacity, and at least the size of the largest content
	halfShare = 8
	// patience is how long a sender may be silent before another sender of the same content can
	// replace it.
	patience = 3 * time.Second
)

// arrival is partial content. The store's mu guards it. Its file belongs to the owner, which can
// lose it only while it waits for the next bytes.
type arrival struct {
	Blob            // the complete content
	have  int64     // bytes
	grown time.Time // when the last bytes arrived
	owner *sender   // nil: no sender
}

// sender is one Add.
type sender struct {
	silent time.Time // start of the current wait; zero while the store is writing
}

// idle reports whether no sender is expected to send more.
func (a *arrival) idle(now time.Time) bool {
	return a.owner == nil || !a.owner.silent.IsZero() && now.Sub(a.owner.silent) >= patience
}

// Progress is how much of a content has arrived.
type Progress struct {
	Complete bool
	Have     int64 // bytes, from the beginning
	Size     int64 // bytes, 0 if unknown
	Arriving bool  // a sender is sending more
}

// Have returns how much of a content has arrived. Without a size it chooses the partial content
// with the most bytes.
func (s *Store) Have(sha string, size int64) Progress {
	if b, err := s.Find(sha); err == nil {
		return Progress{Complete: true, Have: b.Size, Size: b.Size}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	found := Progress{Size: size}
	for b, a := range s.arriving {
		// The smaller total size breaks ties, so that the answer is always the same.
		better := a.have > found.Have || a.have == found.Have && b.Size < found.Size
		if b.SHA256 == sha && (b.Size == size || size == 0 && (better || found.Size == 0)) {
			found = Progress{Have: a.have, Size: b.Size, Arriving: !a.idle(s.now())}
		}
	}
	return found
}

// Tidy removes partial content that has waited too long for the rest.
func (s *Store) Tidy() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bound(mostArrivals)
}

// claim makes the caller the sender of the rest of a content, from an offset on. It returns nil if
// the content must go to a separate file.
func (s *Store) claim(want Want) (*claimed, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := Blob{want.SHA256, want.Size}
	a := s.arriving[key]
	have := int64(0)
	if a != nil {
		have = a.have
	}
	alone := a == nil || a.idle(s.now())
	switch {
	case want.Offset > have:
		return nil, &OffsetError{Offset: want.Offset, Have: have}
	case !alone && want.Offset > 0:
		return nil, ErrArriving
	case !alone:
		return nil, nil
	}
	if a == nil {
		if err := s.bound(mostArrivals - 1); err != nil {
			return nil, err
		}
		if len(s.arriving) >= mostArrivals { // all have senders
			return nil, nil
		}
		a = &arrival{Blob: key}
		s.arriving[key] = a
	}
	me := &sender{}
	a.owner, a.have, a.grown = me, want.Offset, s.now()
	return &claimed{s: s, a: a, me: me}, nil
}

// arrive receives the rest of content that the caller has claimed.
func (s *Store) arrive(c *claimed, r io.Reader, want Want) (Blob, error) {
	var b Blob
	err := c.open(want.Offset)
	if err == nil {
		b, err = receive(c, r, want, want.Size)
	}
	if err == nil {
		err = c.finish()
	}
	if c.w.f != nil {
		if e := c.w.f.Close(); err == nil {
			err = e
		}
	}
	return b, s.endClaim(c, b, err)
}

// endClaim ends a claim: the content is stored, a part is kept and waits for the rest, or nothing
// is kept.
func (s *Store) endClaim(c *claimed, b Blob, err error) error {
	name := s.half(c.a.Blob)
	if err == nil {
		err = s.keep(name, b)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.a.owner != c.me {
		return ErrTaken
	}
	c.a.owner = nil
	var (
		broken *senderError
		part   *PartError
	)
	if c.a.have > 0 && (errors.As(err, &broken) || errors.As(err, &part)) {
		if e := s.bound(mostArrivals); e != nil {
			return errors.Join(err, e)
		}
		return err
	}
	delete(s.arriving, c.a.Blob)
	if e := os.Remove(name); e != nil && !errors.Is(e, fs.ErrNotExist) {
		err = errors.Join(err, e)
	}
	return err
}

// bound drops the partial content that has waited longest until at most the given number are left
// and they are within their other bounds; s.mu is held. It keeps content with a sender.
func (s *Store) bound(most int) error {
	var idle []*arrival
	var size int64
	for _, a := range s.arriving {
		if a.owner == nil {
			idle = append(idle, a)
			size += a.have
		}
	}
	slices.SortFunc(idle, func(a, b *arrival) int {
		return cmp.Or(a.grown.Compare(b.grown), strings.Compare(a.SHA256, b.SHA256), cmp.Compare(a.Size, b.Size))
	})
	room := max(s.config.Largest, s.config.Capacity/halfShare)
	for _, a := range idle {
		if len(s.arriving) <= most && size <= room && s.now().Sub(a.grown) < longestHalf {
			return nil
		}
		if err := os.Remove(s.half(a.Blob)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		delete(s.arriving, a.Blob)
		size -= a.have
	}
	return nil
}

// resume loads the partial content that an earlier store left; the caller has exclusive access.
func (s *Store) resume() error {
	dir := filepath.Join(s.config.Dir, halves)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			return err
		}
		b, ok := halfName(e.Name())
		if !ok || !info.Mode().IsRegular() || info.Size() == 0 || info.Size() > b.Size || s.known[b.SHA256] != nil {
			if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
			continue
		}
		s.arriving[b] = &arrival{Blob: b, have: info.Size(), grown: info.ModTime()}
	}
	return s.bound(mostArrivals)
}

// halves returns the directory of partial content.
const halves = "arriving"

func (s *Store) half(b Blob) string {
	return filepath.Join(s.config.Dir, halves, fmt.Sprintf("%s-%d", b.SHA256, b.Size))
}

// halfName parses the names that half returns.
func halfName(name string) (Blob, bool) {
	sha, size, ok := strings.Cut(name, "-")
	n, err := strconv.ParseInt(size, 10, 64)
	return Blob{sha, n}, ok && err == nil && n > 0 && IsSHA256(sha) && strconv.FormatInt(n, 10) == size
}

// claimed is a target that is kept when its sender fails.
type claimed struct {
	s  *Store
	a  *arrival
	me *sender
	w  writer
}

// open truncates the file to an offset and hashes the bytes before it.
func (c *claimed) open(offset int64) error {
	f, err := os.OpenFile(c.s.half(c.a.Blob), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	c.w = writer{f: f, hash: sha256.New()}
	if err := f.Truncate(offset); err != nil {
		return err
	}
	if c.w.n, err = io.Copy(c.w.hash, f); err == nil && c.w.n != offset {
		err = fmt.Errorf("the file has %d of %d bytes", c.w.n, offset)
	}
	return err
}

// at records the start of a wait for the sender, zero for none, and fails if another sender has
// replaced it.
func (c *claimed) at(silent time.Time) error {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	if c.me.silent = silent; c.a.owner != c.me {
		return ErrTaken
	}
	return nil
}

func (c *claimed) waits() { _ = c.at(c.s.now()) } // the next Write returns the error

// finish syncs the bytes written last.
func (c *claimed) finish() error {
	if err := c.at(time.Time{}); err != nil {
		return err
	}
	return c.w.f.Sync()
}

// Write implements io.Writer.
func (c *claimed) Write(p []byte) (int, error) {
	if err := c.at(time.Time{}); err != nil {
		return 0, err
	}
	n, err := c.w.Write(p)
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.a.have, c.a.grown = c.w.n, c.s.now()
	return n, err
}

func (c *claimed) size() int64 { return c.w.n }

func (c *claimed) blob() Blob { return c.w.blob() }
