package client

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

func TestADataDownloadResumesAtAnotherSite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, c := newDepots(t, patient(10*time.Second))
		content := strings.Repeat("0123456789", 1000)
		g.Keep("a", handle, content, nil)
		g.Keep("b", handle, content, &droverv1.Data{Copy: true})
		g.OnDownload = func(nth int, _ string) int { return nth * 1500 }
		var got bytes.Buffer
		d, err := c.GetData(t.Context(), handle, &got)
		if err != nil || got.String() != content || d.Size != 10_000 {
			t.Fatalf("%d bytes of %+v, %v", got.Len(), d, err)
		}
		if diff := cmp.Diff([]string{"a", "b", "a", "b"}, g.Downs); diff != "" {
			t.Errorf("asked (-want +got)\n%s", diff)
		}
	})
}

func TestDataWithAWrongChecksumReplacesNoFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, c := newDepots(t, patient(10*time.Second))
		g.Keep("a", handle, "right", nil)
		path := filepath.Join(t.TempDir(), "file")
		if d, err := c.SaveData(t.Context(), handle, path); err != nil || d.Site != "a" {
			t.Fatal(err)
		}
		g.Content[g.Held["a"][handle].GetContent().GetSha256()] = "wrong"
		_, err := c.SaveData(t.Context(), handle, path)
		_ = errorOfReason(t, err, problem.Internal)
		if text, err := os.ReadFile(path); string(text) != "right" || err != nil {
			t.Errorf("%q, %v", text, err)
		}
		files, err := os.ReadDir(filepath.Dir(path))
		if len(files) != 1 || err != nil {
			t.Errorf("left: %v, %v", files, err)
		}
		_, err = c.SaveData(t.Context(), handle2, path)
		_ = errorOfReason(t, err, "unknown-data")
		_, err = c.GetData(t.Context(), handle, failing{})
		if err == nil || !strings.Contains(err.Error(), "disk full") {
			t.Errorf("to a full disk: %v", err)
		}
	})
}

// failing is a file on a full disk.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestDataIsListedFoundAndRemoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, c := newDepots(t, patient(10*time.Second))
		g.Keep("a", handle, "one", &droverv1.Data{
			Element: droverv1.ElementType_ELEMENT_TYPE_INT32, Dimensions: []int64{3}, JobId: id,
		})
		g.Keep("b", handle, "one", &droverv1.Data{Copy: true})
		g.Keep("b", handle2, "two", nil)
		list, err := c.ListData(t.Context(), DataFilter{})
		if err != nil || len(list.Data) != 3 || list.Data[0].Element != "int32" || list.Data[0].Job != id ||
			!list.Data[1].Copy {
			t.Errorf("%+v, %v", list, err)
		}
		if _, err := c.ListData(t.Context(), DataFilter{Name: "two words"}); err == nil {
			t.Error("a name with a space makes two terms")
		}
		found, err := c.FindData(t.Context(), handle)
		if err != nil || len(found.Data) != 2 || found.Data[1].address != "http://b" {
			t.Errorf("%+v, %v", found, err)
		}
		sites, err := c.RemoveData(t.Context(), handle)
		if diff := cmp.Diff([]string{"a", "b"}, sites); diff != "" || err != nil {
			t.Errorf("%v (-want +got)\n%s", err, diff)
		}
		_, err = c.FindData(t.Context(), handle)
		_ = errorOfReason(t, err, "unknown-data")
		for _, bad := range []string{"", "1", "../../etc/passwd", handle + " owner=ada"} {
			_, err := c.FindData(t.Context(), bad)
			_ = errorOfReason(t, err, problem.BadValue)
			_, err = c.RemoveData(t.Context(), bad)
			_ = errorOfReason(t, err, problem.BadValue)
			_, err = c.CopyData(t.Context(), bad, "a")
			_ = errorOfReason(t, err, problem.BadValue)
		}
	})
}
