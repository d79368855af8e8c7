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

// Bounds of what has arrived in part and waits for the rest.
const (
	mostArrivals = 32
	longestHalf  = 24 * time.Hour
	halfShare    = 8 // they have this share of the capacity, and at least the room for the largest content
	// patience is how long a sender may be silent until another one, who goes on with
	// the same content, has its place.
	patience = 3 * time.Second
)

// arrival is content of which not all is here. The store's mu guards it; its file
// belongs to the owner, who loses it only while it waits for what comes next.
type arrival struct {
	Blob            // what it is to become
	have  int64     // bytes
	grown time.Time // when it had the last of them
	owner *sender   // nil: nobody sends
}

// sender is one Add.
type sender struct {
	silent time.Time // since when it is waited for; zero while the store is at work
}

// idle says whether nobody can be expected to send more of it.
func (a *arrival) idle(now time.Time) bool {
	return a.owner == nil || !a.owner.silent.IsZero() && now.Sub(a.owner.silent) >= patience
}

// Progress is how much of some content there is.
type Progress struct {
	Complete bool
	Have     int64 // bytes of its beginning
	Size     int64 // bytes, 0 when it is not known
	Arriving bool  // more of it comes at this moment
}

// Have says how much of some content there is. Without a size it is that of which
// there is most.
func (s *Store) Have(sha string, size int64) Progress {
	if b, err := s.Find(sha); err == nil {
		return Progress{Complete: true, Have: b.Size, Size: b.Size}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	found := Progress{Size: size}
	for b, a := range s.arriving {
		// Of two that are equal the smaller one is as good as any, but always the same.
		better := a.have > found.Have || a.have == found.Have && b.Size < found.Size
		if b.SHA256 == sha && (b.Size == size || size == 0 && (better || found.Size == 0)) {
			found = Progress{Have: a.have, Size: b.Size, Arriving: !a.idle(s.now())}
		}
	}
	return found
}

// Tidy removes what has been waiting for the rest for too long.
func (s *Store) Tidy() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bound(mostArrivals)
}

// claim makes the caller the one who sends the rest of some content, from an
// offset on. It returns nil when the content should go to a file of its own.
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
		if len(s.arriving) >= mostArrivals { // all of them are being sent
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
	return b, s.settle(c, b, err)
}

// settle ends a claim: with the content in its place, with a part that waits for
// the rest, or with nothing.
func (s *Store) settle(c *claimed, b Blob, err error) error {
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

// bound drops what has waited for longest until no more than so many are left and
// they are within their other bounds; s.mu is held. What is being sent stays.
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

// resume finds what an earlier store was in the middle of; nobody else is there.
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

// halves is the directory of what is arriving.
const halves = "arriving"

func (s *Store) half(b Blob) string {
	return filepath.Join(s.config.Dir, halves, fmt.Sprintf("%s-%d", b.SHA256, b.Size))
}

// halfName reads the name that half gives.
func halfName(name string) (Blob, bool) {
	sha, size, ok := strings.Cut(name, "-")
	n, err := strconv.ParseInt(size, 10, 64)
	return Blob{sha, n}, ok && err == nil && n > 0 && IsSHA256(sha) && strconv.FormatInt(n, 10) == size
}

// claimed is a target that is kept when its sender breaks off.
type claimed struct {
	s  *Store
	a  *arrival
	me *sender
	w  writer
}

// open makes the file end at an offset, and reads what is in front of that.
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
		err = fmt.Errorf("%d bytes of %d are there", c.w.n, offset)
	}
	return err
}

// at notes since when the sender is waited for, zero for not at all, and fails when
// somebody has taken its place.
func (c *claimed) at(silent time.Time) error {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	if c.me.silent = silent; c.a.owner != c.me {
		return ErrTaken
	}
	return nil
}

func (c *claimed) waits() { _ = c.at(c.s.now()) } // the next Write says that it is too late

// finish makes what has been written last.
func (c *claimed) finish() error {
	if err := c.at(time.Time{}); err != nil {
		return err
	}
	return c.w.f.Sync()
}

// Write is io.Writer's.
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
