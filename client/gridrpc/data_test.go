package gridrpc

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/client"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

func TestDataManagement(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake, c := newDepots(t, patient(10*time.Second))
		g := NewGrid(c)
		ctx := t.Context()
		d, err := g.PutData(ctx, client.DataBytes([]byte("content")), client.PutOptions{Site: "a"})
		if err != nil || d.Site != "a" {
			t.Fatalf("%+v, %v", d, err)
		}
		if loaded, err := g.LoadData(ctx, d.ID); err != nil || loaded.SHA256 != d.SHA256 {
			t.Errorf("loaded %+v, %v", loaded, err)
		}
		if moved, err := g.TransferData(ctx, d, "b"); err != nil || moved.ID != d.ID {
			t.Errorf("transferred %+v, %v", moved, err)
		}
		if info, err := g.DataInfo(ctx, d); err != nil || len(info.Data) != 2 || !info.Data[1].Copy {
			t.Errorf("info %+v, %v", info, err)
		}
		var got bytes.Buffer
		if err := g.GetData(ctx, d, &got); err != nil || got.String() != "content" {
			t.Errorf("got %q, %v", got.String(), err)
		}
		path := filepath.Join(t.TempDir(), "file")
		if err := g.SaveData(ctx, d, path); err != nil {
			t.Error(err)
		}
		if text, err := os.ReadFile(path); string(text) != "content" || err != nil {
			t.Errorf("saved %q, %v", text, err)
		}
		sites, err := g.FreeData(ctx, d)
		if diff := cmp.Diff([]string{"a", "b"}, sites); diff != "" || err != nil {
			t.Errorf("freed (-want +got)\n%s%v", diff, err)
		}
		if len(fake.Held["a"])+len(fake.Held["b"]) > 0 {
			t.Errorf("left: %v", fake.Held)
		}
	})
}

func TestDataManagementHasTheCodesOfTheStandard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake, c := newDepots(t, patient(2*time.Second))
		g := NewGrid(c)
		ctx := t.Context()
		gone := &client.Data{ID: "01a20c55-1c7e-7a53-bb27-57e6f1e4b6a5"}
		all := func(d *client.Data, want Code) {
			t.Helper()
			_, info := g.DataInfo(ctx, d)
			_, moved := g.TransferData(ctx, d, "b")
			for name, err := range map[string]error{
				"info": info, "transfer": moved, "get": g.GetData(ctx, d, &bytes.Buffer{}),
				"save": g.SaveData(ctx, d, filepath.Join(t.TempDir(), "x")),
			} {
				_ = codeError(t, name, err, want)
			}
		}
		all(gone, RPCRefused)
		all(nil, RPCRefused)
		_, err := g.LoadData(ctx, "01")
		_ = codeError(t, "a beginning is no handle", err, RPCRefused)
		_, err = g.PutData(ctx, client.DataBytes(nil), client.PutOptions{Site: "nowhere"})
		_ = codeError(t, "no such site", err, ServerNotFound)
		_, err = g.PutData(ctx, client.DataFile(filepath.Join(t.TempDir(), "none")), client.PutOptions{})
		_ = codeError(t, "no such file", err, OtherErrorCode)
		if sites, err := g.FreeData(ctx, gone); err != nil || len(sites) > 0 {
			t.Errorf("freed what was not there: %v, %v", sites, err)
		}
		fake.Cut("agent")
		all(gone, CommunicationFailed)
		if err := g.Finalize(); err != nil {
			t.Fatal(err)
		}
		all(gone, NotInitialized)
		_, err = g.FreeData(ctx, gone)
		_ = codeError(t, "finalized", err, NotInitialized)
		_, err = (*Grid)(nil).PutData(ctx, client.DataBytes(nil), client.PutOptions{})
		if !errors.Is(err, NotInitialized) {
			t.Error(err)
		}
	})
}

func TestDataIsAnArgumentOfACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake, c := newDepots(t, patient(10*time.Second))
		fake.Agent.Service = &droverv1.Service{Name: "lu", Arguments: []*droverv1.Argument{
			{Name: "matrix", Type: droverv1.ArgumentType_ARGUMENT_TYPE_MATRIX_IN, Required: true},
			{Name: "word", Type: droverv1.ArgumentType_ARGUMENT_TYPE_STRING},
		}}
		g := NewGrid(c)
		h, err := g.Handle(t.Context(), "lu")
		if err != nil {
			t.Fatal(err)
		}
		d, err := g.PutData(t.Context(),
			client.DataMatrix(&client.Dense[float64]{Rows: 1, Cols: 2, Data: []float64{1, 2}}), client.PutOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := h.CallAsync(t.Context(), d, "w", client.Keep("matrix", client.DataSticky)); err != nil {
			t.Fatal(err)
		}
		r := fake.A.Sent()[0].GetRequest()
		if a := r.GetArguments()["matrix"].GetArrayValue(); a.GetContent().GetDataId() != d.ID ||
			!cmp.Equal(a.GetDimensions(), []int64{1, 2}) ||
			r.GetKeep()["matrix"].GetMode() != droverv1.DataMode_DATA_MODE_STICKY {
			t.Errorf("sent %v", r)
		}
		_, err = h.CallAsync(t.Context(), d, d)
		_ = codeError(t, "a string is no data", err, RPCRefused)
		_, err = h.CallAsync(t.Context(), (*client.Data)(nil))
		_ = codeError(t, "a nil handle", err, RPCRefused)
	})
}
