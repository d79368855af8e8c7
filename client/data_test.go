package client

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"connectrpc.com/connect"
	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/client/clienttest"
	"github.com/seed-9b8f70bb/drover/client/rpc"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// Handles of the tests.
const (
	handle  = "01a20c55-1c7e-7a53-bb27-57e6f1e4b6a5"
	handle2 = "01a20c55-2222-7a53-bb27-57e6f1e4b6a5"
)

// errorOfReason fails the test unless err is an *problem.Problem of a reason.
func errorOfReason(t *testing.T, err error, reason problem.Reason) *problem.Problem {
	t.Helper()
	e, ok := errors.AsType[*problem.Problem](err)
	if !ok || e.Reason != reason {
		t.Fatalf("%v, want an error of reason %s", err, reason)
	}
	return e
}

func TestDataGoesToTheSiteWithTheMostFreeSpace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, c := newDepots(t, patient(10*time.Second))
		put := func(o PutOptions) *Data {
			t.Helper()
			d, err := c.PutData(t.Context(), DataBytes([]byte("0123456789")), o)
			if err != nil {
				t.Fatal(err)
			}
			return d
		}
		first := put(PutOptions{Name: "words", Owner: "ada"})
		if first.Site != "a" || first.Mode != DataPersistent || first.Name != "words" || first.Owner != "ada" ||
			first.Size != 10 || checkHandle("", first.ID) != nil {
			t.Errorf("a tie went to %+v", first)
		}
		if second := put(PutOptions{Mode: DataSticky}); second.Site != "b" || second.Mode != DataSticky ||
			second.ID == first.ID {
			t.Errorf("the second went to %+v", second)
		}
		if third := put(PutOptions{Site: "b", Mode: DataVolatile, ID: handle}); third.Site != "b" ||
			third.ID != handle || third.Mode != DataVolatile {
			t.Errorf("the third went to %+v", third)
		}
		if g.A.Uploads[first.SHA256] != "0123456789" {
			t.Errorf("site a got %v", g.A.Uploads)
		}
	})
}

func TestSitesAreOrderedByFreeSpace(t *testing.T) {
	site := func(name string, used, quota int64, change func(*Site)) Site {
		s := Site{Name: name, Status: &Status{Data: DataUsage{Used: used, Quota: quota}}}
		if change != nil {
			change(&s)
		}
		return s
	}
	var got []string
	for _, at := range roomiest([]Site{
		site("none", 0, 0, nil),
		site("full", 100, 100, nil), // something there may make room
		site("over", 120, 100, nil),
		site("small", 0, 9, nil),
		site("draining", 0, 1000, func(s *Site) { s.Status.Draining = true }),
		site("degraded", 0, 1000, func(s *Site) { s.Status.Degraded = true }),
		site("narrow", 0, 1000, func(s *Site) { s.MaxFile = 9 }),
		site("silent", 0, 1000, func(s *Site) { s.Status = nil }),
		site("y", 10, 50, nil), site("x", 60, 100, nil), site("most", 0, 41, nil),
	}, 10) {
		got = append(got, at.Site)
	}
	if diff := cmp.Diff([]string{"most", "x", "y", "full", "over"}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestRefusedDataGoesToTheNextSite(t *testing.T) {
	full := func(nth int, site string) error {
		if site == "a" {
			return clienttest.Refusal(connect.CodeResourceExhausted, &droverv1.ErrorDetail{
				Reason: "data-quota", Message: "full",
			})
		}
		return nil
	}
	synctest.Test(t, func(t *testing.T) {
		g, c := newDepots(t, patient(10*time.Second))
		g.OnPut = full
		if d, err := c.PutData(t.Context(), DataBytes([]byte("x")), PutOptions{}); err != nil || d.Site != "b" {
			t.Errorf("%+v, %v", d, err)
		}
		_, err := c.PutData(t.Context(), DataBytes([]byte("x")), PutOptions{Site: "a"})
		_ = errorOfReason(t, err, "data-quota")
		_, err = c.PutData(t.Context(), DataBytes([]byte("x")), PutOptions{Site: "nowhere"})
		_ = errorOfReason(t, err, "unknown-site")
		g.OnPut = nil
		_, err = c.PutData(t.Context(), DataBytes(make([]byte, 2000)), PutOptions{})
		_ = errorOfReason(t, err, "no-site")
	})
}

func TestAConflictIsNotRetriedAtAnotherSite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, c := newDepots(t, patient(10*time.Second))
		g.OnPut = func(int, string) error {
			return clienttest.Refusal(connect.CodeAlreadyExists, &droverv1.ErrorDetail{
				Reason: "data-conflict", Message: "others are there",
			})
		}
		_, err := c.PutData(t.Context(), DataBytes([]byte("x")), PutOptions{ID: handle})
		_ = errorOfReason(t, err, "data-conflict")
		if g.Puts != 1 {
			t.Errorf("tried %d times", g.Puts)
		}
	})
}

func TestDataWithoutAnAnswerIsUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, c := newDepots(t, patient(3*time.Second))
		g.OnPut = func(int, string) error { return connect.NewError(connect.CodeUnavailable, errors.New("lost")) }
		_, err := c.PutData(t.Context(), DataBytes([]byte("x")), PutOptions{ID: handle})
		e := errorOfReason(t, err, problem.Unknown)
		if !strings.Contains(e.Hint, handle) || len(g.Held["b"]) > 0 || g.Puts < 2 {
			t.Errorf("hint %q after %d tries, at b: %v", e.Hint, g.Puts, g.Held["b"])
		}
		g.OnPut = nil
		if d, err := c.PutData(t.Context(), DataBytes([]byte("x")), PutOptions{ID: handle, Site: "a"}); err != nil ||
			d.ID != handle {
			t.Errorf("again: %v, %v", d, err)
		}
	})
}

func TestEvictedContentIsSentAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, c := newDepots(t, patient(10*time.Second))
		g.OnPut = func(nth int, _ string) error {
			if nth < 3 {
				return clienttest.Refusal(connect.CodeNotFound, &droverv1.ErrorDetail{
					Reason: "unknown-content", Message: "gone",
				})
			}
			return nil
		}
		if d, err := c.PutData(t.Context(), DataBytes([]byte("x")), PutOptions{Site: "a"}); err != nil || g.Puts != 3 {
			t.Errorf("%v, %v after %d", d, err, g.Puts)
		}
	})
}

func TestInvalidDataIsRefusedLocally(t *testing.T) {
	block := func(element ElementType, dimensions ...int64) DataContent { // of 40 bytes
		return DataBlock(Block{Element: element, Dimensions: dimensions, Open: func() (io.ReadCloser, error) {
			return io.NopCloser(bytes.NewReader(make([]byte, 40))), nil
		}})
	}
	synctest.Test(t, func(t *testing.T) {
		g, c := newDepots(t, patient(10*time.Second))
		for name, tc := range map[string]struct {
			content DataContent
			o       PutOptions
			reason  problem.Reason
		}{
			"no content":   {DataContent{}, PutOptions{}, problem.BadValue},
			"no such mode": {DataBytes(nil), PutOptions{Mode: "eternal"}, problem.BadValue},
			"no UUID":      {DataBytes(nil), PutOptions{ID: "7"}, problem.BadValue},
			"a UUIDv4": {
				DataBytes(nil), PutOptions{ID: "8c9b2b1e-3f3a-4d9c-9f0a-0d0c7e0c1a11"}, problem.BadValue,
			},
			"upper case":      {DataBytes(nil), PutOptions{ID: strings.ToUpper(handle)}, problem.BadValue},
			"no such element": {block("float16", 5), PutOptions{}, "wrong-type"},
			"another size":    {block(Float64, 2, 3), PutOptions{}, "wrong-dimensions"},
			"an overflow":     {block(Float64, 1<<40, 1<<40), PutOptions{}, "wrong-dimensions"},
			"a cube":          {block(Float64, 5, 1, 1), PutOptions{}, "wrong-dimensions"},
			"negative":        {block(Float64, -1, -5), PutOptions{}, "wrong-dimensions"},
			"no rows": {
				DataMatrix(&Dense[float64]{Rows: 2, Cols: 2, Data: make([]float64, 3)}),
				PutOptions{},
				"wrong-dimensions",
			},
		} {
			if _, err := c.PutData(t.Context(), tc.content, tc.o); problem.ReasonOf(err) != tc.reason {
				t.Errorf("%s: %v, want an error of reason %s", name, err, tc.reason)
			}
		}
		if _, err := c.PutData(t.Context(), DataFile(filepath.Join(t.TempDir(), "none")), PutOptions{}); !errors.Is(err,
			os.ErrNotExist) {
			t.Errorf("no file: %v", err)
		}
		if len(g.A.Uploads)+len(g.B.Uploads)+g.Puts > 0 {
			t.Errorf("something was sent: %v, %v", g.A.Uploads, g.B.Uploads)
		}
	})
}

func TestAUniquePrefixNamesData(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, c := newDepots(t, patient(10*time.Second))
		g.Keep("a", handle, "one", &droverv1.Data{Copy: true})
		g.Keep("b", handle, "one", nil)
		g.Keep("b", handle2, "two", nil)
		if d, err := c.lookUp(t.Context(), handle[:12]); err != nil || d.ID != handle || d.Site != "b" {
			t.Errorf("%+v, %v", d, err)
		}
		_, err := c.lookUp(t.Context(), handle[:8])
		if e := errorOfReason(t, err, problem.Ambiguous); !strings.Contains(e.Message, handle2) {
			t.Errorf("%v", e)
		}
		_, err = c.lookUp(t.Context(), "0000")
		_ = errorOfReason(t, err, "unknown-data")
		g.Silent = "b"
		_, err = c.lookUp(t.Context(), handle[:12])
		if e := errorOfReason(t, err, problem.Unreachable); !strings.Contains(e.Hint, handle) {
			t.Errorf("%v", e)
		}
	})
}

func TestReadingDataEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, c := newDepots(t, patient(time.Hour))
		g.Keep("a", handle, "0123456789", nil)
		g.OnDownload = func(int, string) int { return 0 }
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		_, err := c.GetData(ctx, handle, io.Discard)
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
		if n := len(g.Downs); n > 20 {
			t.Errorf("asked %d times in 20s", n)
		}
		ctx, interrupt := context.WithCancelCause(t.Context())
		g.OnDownload = func(int, string) int { interrupt(errors.New("Ctrl-C")); return 0 } // in the middle of a call
		if _, err := c.GetData(ctx, handle, io.Discard); err == nil || err.Error() != "Ctrl-C" {
			t.Errorf("interrupted: %v", err)
		}
	})
}

func TestAnArrayIsFetchedAsItWasPut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, c := newDepots(t, patient(10*time.Second))
		d, err := c.PutData(t.Context(), DataMatrix(&Dense[int32]{Rows: 2, Cols: 1, Data: []int32{7, -1}}),
			PutOptions{Name: "m"})
		if err != nil || d.Element != Int32 || !cmp.Equal(d.Dimensions, []int64{2, 1}) || d.Size != 8 {
			t.Fatalf("%+v, %v", d, err)
		}
		dir := t.TempDir()
		g.OnDownload = func(nth int, _ string) int { return 3 } // the header is written once all the same
		if _, err := c.SaveData(t.Context(), d.ID, filepath.Join(dir, "m.npy")); err != nil {
			t.Fatal(err)
		}
		b, err := OpenNPY(filepath.Join(dir, "m.npy"))
		if err != nil || b.Element != Int32 || !cmp.Equal(b.Dimensions, []int64{2, 1}) {
			t.Errorf("%v, %v", b, err)
		}
		if _, err := c.SaveData(t.Context(), d.ID, filepath.Join(dir, "m.bin")); err != nil {
			t.Fatal(err)
		}
		if raw, err := os.ReadFile(filepath.Join(dir, "m.bin")); string(raw) != "\x07\x00\x00\x00\xff\xff\xff\xff" ||
			err != nil {
			t.Errorf("%q, %v", raw, err)
		}
		again, err := c.PutData(t.Context(), DataBlock(b), PutOptions{})
		if err != nil || again.SHA256 != d.SHA256 || again.ID == d.ID {
			t.Errorf("%+v, %v", again, err)
		}
	})
}

func TestASlowCopyIsNotBroken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, c := newDepots(t, patient(2*time.Second))
		g.Keep("a", handle, "one", nil)
		g.OnCopy = func(_ int, stream *connect.ServerStream[droverv1.CopyDataResponse]) error {
			for have := range int64(3) {
				time.Sleep(rpc.LongestSilence * 2 / 3) //nolint:forbidigo // in virtual time
				if err := stream.Send(&droverv1.CopyDataResponse{HaveBytes: have, SizeBytes: 3}); err != nil {
					return err
				}
			}
			return nil
		}
		if _, err := c.CopyData(t.Context(), handle, "b"); err != nil || len(g.Copies) != 1 {
			t.Errorf("%v after %d", err, len(g.Copies))
		}
	})
}
