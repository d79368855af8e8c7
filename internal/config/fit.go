package config

import (
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
	unmarshaler  = reflect.TypeFor[yaml.Unmarshaler]()
)

// fit decodes a document into a struct, but for what does not fit.
func (f *File) fit(document *yaml.Node, into any) {
	w := walker{inside: make(map[*yaml.Node]bool)}
	good := w.walk(document.Content[0], reflect.TypeOf(into).Elem(), "")
	if f.problems = w.problems; good == nil {
		return
	}
	if err := good.Decode(into); err != nil {
		f.problems = append(f.problems, &FieldError{Message: err.Error()})
	}
}

// walker compares YAML with a type.
type walker struct {
	problems []*FieldError
	inside   map[*yaml.Node]bool // that are being walked: an anchor may hold itself
}

func (w *walker) bad(n *yaml.Node, key, accepted string) {
	value := n.Value
	switch n.Kind {
	case yaml.MappingNode:
		value = "a mapping"
	case yaml.SequenceNode:
		value = "a list"
	}
	if key == "" {
		key = "configuration"
	}
	w.problems = append(w.problems, &FieldError{Key: key, Value: value, Accepted: accepted, Line: n.Line})
}

// walk returns what of a node fits a type, nil for nothing.
func (w *walker) walk(n *yaml.Node, t reflect.Type, key string) *yaml.Node {
	if n = follow(n); w.inside[n] {
		w.bad(n, key, "an anchor that does not hold itself")
		return nil
	}
	w.inside[n] = true
	defer delete(w.inside, n)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == nodeType, n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null":
		return n
	case reflect.PointerTo(t).Implements(unmarshaler):
		return w.scalar(n, t, key)
	}
	switch t.Kind() {
	case reflect.Struct:
		return w.mapping(n, t, key)
	case reflect.Slice:
		return w.list(n, t, key)
	case reflect.Map:
		if n.Kind != yaml.MappingNode || n.Decode(reflect.New(t).Interface()) != nil {
			w.bad(n, key, "a mapping of keys to values")
			return nil
		}
		return n
	}
	return w.scalar(n, t, key)
}

func (w *walker) mapping(n *yaml.Node, t reflect.Type, key string) *yaml.Node {
	if n.Kind != yaml.MappingNode {
		w.bad(n, key, "a mapping with keys of "+strings.Join(keysOf(t), ", "))
		return nil
	}
	out := *n
	out.Content = nil
	seen := make(map[string]bool)
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		name := k.Value
		at := name
		if key != "" {
			at = key + "." + name
		}
		field, known := fieldOf(t, name)
		switch {
		case !known:
			w.problems = append(w.problems, &FieldError{
				Key: at, Message: "unknown key, accepted: " + strings.Join(keysOf(t), ", "), Line: k.Line,
			})
		case seen[name]:
			w.problems = append(w.problems, &FieldError{Key: at, Message: "given twice, accepted: once", Line: k.Line})
		default:
			if v = w.walk(v, field.Type, at); v != nil {
				out.Content = append(out.Content, k, v)
			}
		}
		seen[name] = true
	}
	return &out
}

func (w *walker) list(n *yaml.Node, t reflect.Type, key string) *yaml.Node {
	if n.Kind != yaml.SequenceNode {
		w.bad(n, key, "a list")
		return nil
	}
	out := *n
	out.Content = nil
	for i, v := range n.Content {
		if v = w.walk(v, t.Elem(), fmt.Sprintf("%s[%d]", key, i)); v == nil {
			// What follows keeps its index.
			v = &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null"}
		}
		out.Content = append(out.Content, v)
	}
	return &out
}

func (w *walker) scalar(n *yaml.Node, t reflect.Type, key string) *yaml.Node {
	ok := n.Kind == yaml.ScalarNode && n.Decode(reflect.New(t).Interface()) == nil
	// The library would cut 2.5 to 2.
	if whole := t.Kind() >= reflect.Int && t.Kind() <= reflect.Uint64 && !reflect.PointerTo(t).Implements(unmarshaler); whole && t != durationType {
		ok = ok && n.ShortTag() == "!!int"
	}
	if !ok {
		w.bad(n, key, acceptedBy(t))
		return nil
	}
	return n
}

// acceptedBy says how a value of a type is written.
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

// fieldOf returns the field that a key stands for.
func fieldOf(t reflect.Type, key string) (reflect.StructField, bool) {
	for i := range t.NumField() {
		if f := t.Field(i); keyOf(f) == key && key != "" {
			return f, true
		}
	}
	return reflect.StructField{}, false
}

// keysOf lists the keys of a struct in its order.
func keysOf(t reflect.Type) []string {
	var keys []string
	for i := range t.NumField() {
		keys = append(keys, keyOf(t.Field(i)))
	}
	return slices.DeleteFunc(keys, func(k string) bool { return k == "" })
}

// keyOf returns the key of a field, "" for none.
func keyOf(f reflect.StructField) string {
	if key := f.Tag.Get("yaml"); key != "-" {
		return key
	}
	return ""
}
