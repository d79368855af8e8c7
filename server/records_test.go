package server

import (
	"encoding"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/server/site"
	"github.com/seed-9b8f70bb/drover/server/store"
)

// describeFields writes the JSON fields of a type, one per line.
func describeFields(b *strings.Builder, path string, t reflect.Type) {
	text := reflect.TypeFor[encoding.TextMarshaler]()
	switch {
	case t.Implements(text) || reflect.PointerTo(t).Implements(text):
		fmt.Fprintf(b, "%s: text\n", path)
		return
	case t.Kind() == reflect.Pointer:
		describeFields(b, path, t.Elem())
		return
	case t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Uint8:
		describeFields(b, path+"[]", t.Elem())
		return
	case t.Kind() == reflect.Map:
		describeFields(b, path+"{}", t.Elem())
		return
	case t.Kind() != reflect.Struct:
		fmt.Fprintf(b, "%s: %s\n", path, t.Kind())
		return
	}
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-" || !f.IsExported():
		case name == "" && f.Anonymous:
			describeFields(b, path, f.Type)
		case name == "":
			describeFields(b, path+"."+f.Name, f.Type)
		default:
			describeFields(b, path+"."+name, f.Type)
		}
	}
}

// A program must refuse records with fields that it does not know: it would lose them. So another
// version of the store goes with every change of a record.
func TestRecordsChangeOnlyWithTheVersionOfTheStore(t *testing.T) {
	var b strings.Builder
	for _, record := range []struct {
		name string
		of   reflect.Type
	}{
		{"record", reflect.TypeFor[site.Record]()},
		{"dossier", reflect.TypeFor[site.Dossier]()},
		{"reservation", reflect.TypeFor[site.Reservation]()},
		{"agreements", reflect.TypeFor[site.Agreements]()},
	} {
		describeFields(&b, record.name, record.of)
	}
	file := filepath.Join("testdata", "records", fmt.Sprintf("version%d.txt", store.Version))
	if os.Getenv("UPDATE_RECORDS") != "" {
		if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), b.String()); d != "" {
		t.Errorf("the records changed: raise store.Version, with a migration, and write %s "+
			"(UPDATE_RECORDS=1 go test ./server -run Records):%s", file, d)
	}
}
