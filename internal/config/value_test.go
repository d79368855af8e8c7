package config

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAValueKnowsItsPosition(t *testing.T) {
	var o struct {
		Any  Value `yaml:"any,required"`
		None Value `yaml:"none"`
	}
	file, err := Read([]byte("any:\n  - {b: 1, a: [2], b: 3}\n  - &x text\n  - *x\n  - ~\n"), &o)
	if err != nil || file.Check(nil) != nil {
		t.Fatal(err, file.Check(nil))
	}
	items, ok := o.Any.Items()
	if !ok || o.None.Given() || !o.Any.Given() {
		t.Fatalf("got %v, none %v", o.Any, o.None)
	}
	var got []string
	for _, v := range items {
		text, _ := v.Text()
		got = append(got, v.Key+" "+v.String()+" "+text)
	}
	want := []string{`any[0] a mapping `, `any[1] "text" text`, `any[2] "text" text`, `any[3] nothing `}
	if diff := cmp.Diff(want, got); diff != "" || items[2].Line != 3 {
		t.Errorf("%s\nalias at line %d, want that of its anchor, 3", diff, items[2].Line)
	}
	entries, _ := items[0].Entries()
	got = nil
	for _, e := range entries {
		name, _ := e.Name.Text()
		got = append(got, name+" "+e.Value.Key+" "+e.Value.String())
	}
	if diff := cmp.Diff([]string{`b any[0].b "1"`, `a any[0].a a list`, `b any[0].b "3"`}, got); diff != "" {
		t.Error(diff)
	}
}

func TestAFileWithoutARequiredKeyIsRefused(t *testing.T) {
	var o struct {
		List []struct {
			Name Value `yaml:"name,required"`
		} `yaml:"list,required"`
	}
	for text, want := range map[string]string{
		"{}":             "line 1: list: missing",
		"list:\n  - {}":  "line 2: list[0].name: missing",
		"list: [{a: 1}]": "line 1: list[0].a: unknown key, accepted: name\nline 1: list[0].name: missing",
	} {
		file, err := Read([]byte(text), &o)
		if err = errors.Join(err, file.Check(nil)); err == nil || err.Error() != want {
			t.Errorf("%q:\n got %v\nwant %s", text, err, want)
		}
	}
}
