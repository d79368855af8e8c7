package store

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// model is the expected content of a store.
type model struct {
	Hot, Cold, Meta map[string]string
	Buried          map[string]tomb
}

type tomb struct {
	Content string
	Until   int64
}

func newModel() model {
	return model{map[string]string{}, map[string]string{}, map[string]string{}, map[string]tomb{}}
}

func (m model) clone() model {
	return model{maps.Clone(m.Hot), maps.Clone(m.Cold), maps.Clone(m.Meta), maps.Clone(m.Buried)}
}

func (m model) forget(id string) {
	delete(m.Hot, id)
	delete(m.Cold, id)
	delete(m.Buried, id)
}

// expire removes due tombstones in the order of expiry and ID.
func (m model) expire(now int64, limit int) int {
	due := slices.SortedFunc(maps.Keys(m.Buried), func(a, b string) int {
		if m.Buried[a].Until != m.Buried[b].Until {
			return int(m.Buried[a].Until - m.Buried[b].Until)
		}
		return slices.Compare([]byte(a), []byte(b))
	})
	n := 0
	for _, id := range due {
		if n < limit && m.Buried[id].Until <= now {
			m.forget(id)
			n++
		}
	}
	return n
}

// dump reads the whole content of a store.
func dump(t *rapid.T, s *Store, ids []string) model {
	m := newModel()
	if err := s.Load(func(id string, hot []byte) error {
		m.Hot[id] = string(hot)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for _, id := range ids {
		if cold, err := s.Cold(id); err == nil {
			m.Cold[id] = string(cold)
		}
		if value, err := s.Meta(id); err == nil {
			m.Meta[id] = string(value)
		}
		content, buried, err := s.Tombstone(id)
		if err != nil {
			t.Fatal(err)
		}
		if buried {
			m.Buried[id] = tomb{Content: string(content)}
		}
	}
	return m
}

// withoutUntil returns the tombstones as dump sees them.
func (m model) withoutUntil() model {
	m = m.clone()
	for id, is := range m.Buried {
		m.Buried[id] = tomb{Content: is.Content}
	}
	return m
}

func TestAStoreAgreesWithMapsAcrossRestarts(t *testing.T) {
	dir, n := t.TempDir(), 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		c := Config{Path: filepath.Join(dir, fmt.Sprint(n)), Site: "alpha"}
		s, err := Open(c)
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			_ = s.Close()
			_ = os.Remove(c.Path)
		}()

		ids := make([]string, 12)
		for i := range ids {
			ids[i] = string(rune('a' + i))
		}
		ids[0] = strings.Repeat("l", LargestID)
		id := rapid.SampledFrom(ids)
		content := rapid.Custom(func(t *rapid.T) string {
			letter := rapid.SampledFrom([]byte("xyz")).Draw(t, "letter")
			size := rapid.SampledFrom([]int{0, 1, 300, 5000, 70000}).Draw(t, "size")
			return string(slices.Repeat([]byte{letter}, size))
		})
		instant := rapid.Int64Range(-20, 20)

		is := newModel()
		t.Repeat(map[string]func(*rapid.T){
			"": func(t *rapid.T) {
				if diff := cmp.Diff(is.withoutUntil(), dump(t, s, ids)); diff != "" {
					t.Fatalf("(-want +got):\n%s", diff)
				}
			},
			"commit": func(t *rapid.T) {
				var b Batch
				next := is.clone()
				for range rapid.IntRange(0, 20).Draw(t, "changes") {
					id, c := id.Draw(t, "id"), content.Draw(t, "content")
					switch rapid.IntRange(0, 7).Draw(t, "change") {
					case 0, 1, 2:
						b.Put(id, []byte(c))
						delete(next.Buried, id)
						next.Hot[id] = c
					case 3:
						b.PutCold(id, []byte(c))
						next.Cold[id] = c
					case 4:
						b.DeleteCold(id)
						delete(next.Cold, id)
					case 5:
						until := instant.Draw(t, "until")
						b.Bury(id, []byte(c), until)
						next.forget(id)
						next.Buried[id] = tomb{c, until}
					case 6:
						b.Delete(id)
						next.forget(id)
					case 7:
						b.SetMeta(id, []byte(c))
						next.Meta[id] = c
					}
				}
				if rapid.IntRange(0, 5).Draw(t, "refused") == 0 {
					b.Put("", nil)
					if err := s.Commit(&b); err == nil {
						t.Fatal("an empty ID was accepted")
					}
					return
				}
				if err := s.Commit(&b); err != nil {
					t.Fatal(err)
				}
				is = next
			},
			"expire": func(t *rapid.T) {
				now, limit := instant.Draw(t, "now"), rapid.IntRange(0, 5).Draw(t, "limit")
				n, err := s.Expire(now, limit)
				if want := is.expire(now, limit); err != nil || n != want {
					t.Fatalf("expired %d, %v, want %d", n, err, want)
				}
			},
			"probe": func(t *rapid.T) {
				if err := s.Probe(); err != nil {
					t.Fatal(err)
				}
			},
			"reopen": func(t *rapid.T) {
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				if s, err = Open(c); err != nil {
					t.Fatal(err)
				}
			},
		})
	})
}
