package config

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

var (
	durationType = reflect.TypeFor[time.Duration]()
	nodeType     = reflect.TypeFor[yaml.Node]()
	valueType    = reflect.TypeFor[Value]()
	unmarshaler  = reflect.TypeFor[yaml.Unmarshaler]()
)

// walker decodes YAML and records what does not fit. A field that does not fit keeps its value.
type walker struct {
	problems []*FieldError
	inside   map[*yaml.Node]bool // nodes being walked: an anchor can contain itself
}

func (w *walker) bad(n *yaml.Node, key, accepted string) {
	e := &FieldError{Key: cmp.Or(key, "configuration"), Line: n.Line, Value: n.Value, Accepted: accepted}
	if n.Kind != yaml.ScalarNode || isNull(n) {
		e.Message = "got " + describe(n) + ", accepted: " + accepted
	}
	w.problems = append(w.problems, e)
}

// walk decodes a node into v as far as it fits.
func (w *walker) walk(n *yaml.Node, v reflect.Value, key string) {
	n = follow(n)
	if v.Kind() == reflect.Pointer && !isNull(n) {
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		v = v.Elem()
	}
	t := v.Type()
	if t == valueType {
		v.Set(reflect.ValueOf(Value{Key: key, Line: n.Line, node: n}))
		return
	}
	if w.inside[n] {
		w.bad(n, key, "an anchor that does not contain itself")
		return
	}
	w.inside[n] = true
	defer delete(w.inside, n)
	switch k := t.Kind(); {
	case t == nodeType:
		v.Set(reflect.ValueOf(*n))
	case isNull(n):
		if k == reflect.Pointer || k == reflect.Slice || k == reflect.Map {
			v.SetZero()
		}
	case reflect.PointerTo(t).Implements(unmarshaler):
		w.scalar(n, v, key)
	case k == reflect.Struct:
		w.mapping(n, v, key)
	case k == reflect.Slice:
		w.list(n, v, key)
	case k == reflect.Map:
		if n.Kind != yaml.MappingNode || n.Decode(reflect.New(t).Interface()) != nil {
			w.bad(n, key, "a mapping of keys to values")
			return
		}
		_ = n.Decode(v.Addr().Interface()) // the same, over the defaults
	default:
		w.scalar(n, v, key)
	}
}

func (w *walker) mapping(n *yaml.Node, v reflect.Value, key string) {
	t := v.Type()
	if n.Kind != yaml.MappingNode {
		w.bad(n, key, "a mapping with keys of "+keysOf(t))
		return
	}
	wrong := func(line int, at, message string) {
		w.problems = append(w.problems, &FieldError{Key: at, Message: message, Line: line})
	}
	seen := make(map[string]bool)
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i]
		at := join(key, k.Value)
		field := slices.Index(keysByField(t), k.Value)
		switch {
		case field < 0 || k.Value == "":
			wrong(k.Line, at, "unknown key, accepted: "+keysOf(t))
		case seen[k.Value]:
			wrong(k.Line, at, "given twice, accepted: once")
		default:
			w.walk(n.Content[i+1], v.Field(field), at)
		}
		seen[k.Value] = true
	}
	for i, name := range keysByField(t) {
		if _, option, _ := strings.Cut(t.Field(i).Tag.Get("yaml"), ","); option == "required" && !seen[name] {
			wrong(n.Line, join(key, name), "missing")
		}
	}
}

func (w *walker) list(n *yaml.Node, v reflect.Value, key string) {
	if n.Kind != yaml.SequenceNode {
		w.bad(n, key, "a list")
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content)))
	for i, item := range n.Content {
		w.walk(item, v.Index(i), index(key, i))
	}
}

func (w *walker) scalar(n *yaml.Node, v reflect.Value, key string) {
	t := v.Type()
	into := reflect.New(t)
	ok := n.Kind == yaml.ScalarNode && n.Decode(into.Interface()) == nil
	// The library would truncate 2.5 to 2.
	whole := t.Kind() >= reflect.Int && t.Kind() <= reflect.Uint64 && t != durationType
	if whole && !reflect.PointerTo(t).Implements(unmarshaler) {
		ok = ok && n.ShortTag() == "!!int"
	}
	if !ok {
		w.bad(n, key, acceptedBy(t))
		return
	}
	v.Set(into.Elem())
}

// acceptedBy describes the format of a type.
func acceptedBy(t reflect.Type) string {
	switch {
	case t == durationType:
		return "a time with its unit, as 90s, 5m or 1h30m"
	case t == reflect.TypeFor[Size]():
		return sizeAccepted
	case t == reflect.TypeFor[Rate]():
		return rateAccepted
	}
	switch t.Kind() {
	case reflect.Bool:
		return "true, false"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return fmt.Sprintf("a whole number of at most %d", int64(1)<<(t.Bits()-1)-1)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return fmt.Sprintf("a whole number from 0 to %d", uint64(1)<<(t.Bits()-1)*2-1)
	case reflect.Float32, reflect.Float64:
		return "a number"
	}
	return "text"
}

// keysOf lists the keys of a struct in its order, for messages.
func keysOf(t reflect.Type) string {
	return strings.Join(slices.DeleteFunc(keysByField(t), func(k string) bool { return k == "" }), ", ")
}

// keysByField returns the key of each field of a struct, "" for a field without one.
func keysByField(t reflect.Type) []string {
	keys := make([]string, t.NumField())
	for i := range keys {
		if key, _, _ := strings.Cut(t.Field(i).Tag.Get("yaml"), ","); key != "-" {
			keys[i] = key
		}
	}
	return keys
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func index(path string, i int) string { return fmt.Sprintf("%s[%d]", path, i) }
