package config

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

type inner struct {
	Name  string `yaml:"name"`
	Width int32  `yaml:"width"`
}

type outer struct {
	Version int               `yaml:"version"`
	Wait    time.Duration     `yaml:"wait"`
	Size    Size              `yaml:"size"`
	Rate    Rate              `yaml:"rate"`
	Speed   float64           `yaml:"speed"`
	Yes     bool              `yaml:"yes"`
	List    []inner           `yaml:"list"`
	Map     map[string]string `yaml:"map"`
	Part    *inner            `yaml:"part"`
	Seed    uint64            `yaml:"seed"`
	Hidden  int               `yaml:"-"`
}

func TestAFileIsReadOverTheDefaults(t *testing.T) {
	got := outer{Wait: time.Second, Speed: 3}
	f, err := Read([]byte(`version: 1
size: 1.5KiB
rate: 2MB/s
yes: true
list: [{name: a, width: 2}, {name: 5}]
map: {k: v}
part: {width: 3}
seed: 18446744073709551615
wait:
`), &got)
	if err != nil || f.Check(nil) != nil {
		t.Fatal(err, f.Check(nil))
	}
	want := outer{
		Version: 1, Wait: time.Second, Size: 1536, Rate: 2_000_000, Speed: 3, Yes: true,
		List: []inner{{Name: "a", Width: 2}, {Name: "5"}}, Map: map[string]string{"k": "v"},
		Part: &inner{Width: 3}, Seed: math.MaxUint64,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if line := f.Line("list[1].name"); line != 5 {
		t.Errorf("list[1].name at line %d", line)
	}
	if none := f.Line("list[2]"); none != 0 {
		t.Errorf("list[2] at line %d, want 0: the file lacks it", none)
	}
}

func TestWhatDoesNotFitIsToldWithLineKeyAndWhatDoes(t *testing.T) {
	const whole = "a whole number of at most 2147483647"
	for text, want := range map[string]string{
		"speed: fast":                     `line 1: speed: "fast", accepted: a number`,
		"yes: maybe":                      `line 1: yes: "maybe", accepted: true, false`,
		"wait: 5":                         `line 1: wait: "5", accepted: a time with its unit, as 90s, 5m or 1h30m`,
		"size: 5":                         `line 1: size: "5", accepted: bytes with a unit, as 512MiB or 16GB`,
		"size: -1B":                       `line 1: size: "-1B", accepted: bytes with a unit, as 512MiB or 16GB`,
		"size: 1e300TB":                   `line 1: size: "1e300TB", accepted: bytes with a unit, as 512MiB or 16GB`,
		"rate: 5":                         `line 1: rate: "5", accepted: a rate with its unit, as 125MB/s or 1GiB/s`,
		"list: [{width: 2.5}]":            `line 1: list[0].width: "2.5", accepted: ` + whole,
		"list:\n- width: 1\n- width: 3e9": `line 3: list[1].width: "3e9", accepted: ` + whole,
		"list: [{width: 1000000000000}]":  `line 1: list[0].width: "1000000000000", accepted: ` + whole,
		"list: 5":                         `line 1: list: "5", accepted: a list`,
		"list: [5]":                       `line 1: list[0]: "5", accepted: a mapping with keys of name, width`,
		"list: [{nmae: a}]":               `line 1: list[0].nmae: unknown key, accepted: name, width`,
		"part: {widht: 1}":                `line 1: part.widht: unknown key, accepted: name, width`,
		"part: 1":                         `line 1: part: "1", accepted: a mapping with keys of name, width`,
		"seed: -1":                        `line 1: seed: "-1", accepted: a whole number from 0 to 18446744073709551615`,
		"seed: 2.5":                       `line 1: seed: "2.5", accepted: a whole number from 0 to 18446744073709551615`,
		"hidden: 1":                       `line 1: hidden: unknown key, accepted: version, wait, size, rate, speed, yes, list, map, part, seed`,
		"version: 1\nversion: 1":          `line 2: version: given twice, accepted: once`,
		"version: [1]":                    `line 1: version: got a list, accepted: a whole number of at most 9223372036854775807`,
		"map: [1]":                        `line 1: map: got a list, accepted: a mapping of keys to values`,
		"list: [{name: {}}]":              `line 1: list[0].name: got a mapping, accepted: text`,
		"list: &a [*a]":                   `line 1: list[0]: got a list, accepted: an anchor that does not contain itself`,
		"5":                               `line 1: configuration: "5", accepted: a mapping with keys of version, wait, size, rate, speed, yes, list, map, part, seed`,
		"version: 1\n  x: [":              `line 2: YAML: mapping values are not allowed in this context`,
		"version: 1\n---\nversion: 2":     `line 2: more than one document, accepted: one`,
		"version: 1\n---\nversion: [":     `line 3: YAML: did not find expected node content`,
	} {
		var o outer
		f, err := Read([]byte(text), &o)
		if err == nil {
			err = f.Check(nil)
		}
		if err == nil || err.Error() != want {
			t.Errorf("%q:\n got %v\nwant %s", text, err, want)
		}
		if field, ok := errors.AsType[*FieldError](err); !ok || field.Line == 0 {
			t.Errorf("%q is not typed: %+v", text, field)
		}
	}
}

func TestWhatFollowsFromABadValueIsNotToldTwice(t *testing.T) {
	var o outer
	f, err := Read([]byte("version: x\nlist:\n  - {width: y}\n  - {width: 2}\nwait: 1s"), &o)
	if err != nil {
		t.Fatal(err)
	}
	if len(o.List) != 2 || o.List[1].Width != 2 || o.Wait != time.Second {
		t.Errorf("what fits was not read: %+v", o)
	}
	err = f.Check([]*FieldError{
		{Key: "wait", Value: "1s", Accepted: "2s"},
		{Key: "list[1].width", Value: "2", Accepted: "3"},
		{Key: "version", Value: "0", Accepted: "1"},
		{Key: "list[0].width", Value: "0", Accepted: "1"},
		{Key: "size", Value: "0", Accepted: "1B"},
	})
	var got []string
	for line := range strings.SplitSeq(err.Error(), "\n") {
		key, _, _ := strings.Cut(line, ": \"")
		got = append(got, key)
	}
	if d := cmp.Diff([]string{
		"size", "line 1: version", "line 3: list[0].width", "line 4: list[1].width", "line 5: wait",
	}, got); d != "" {
		t.Errorf("%s\n%v", d, err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("version: 1\nlist: [{width: 1}]\nmap: {a: b}"))
	f.Add([]byte("list: &a [*a, {name: *a}]"))
	f.Add([]byte("<<: &a {version: 1}\nmap: *a"))
	f.Fuzz(func(_ *testing.T, data []byte) {
		var o outer
		if file, err := Read(data, &o); err == nil {
			_ = file.Check(nil)
			_ = file.Line("list[0].width")
		}
	})
}
