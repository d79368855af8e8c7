package config

import (
	"fmt"
	"reflect"

	"go.yaml.in/yaml/v3"
)

// Value is the value of a key and its position in the file. A package puts it into its struct for a key that it
// reads itself: a union, a formula, a mapping with free keys. The zero Value means that the file lacks the key.
type Value struct {
	Key  string // "services[0].model"
	Line int    // from 1
	node *yaml.Node
}

// Given returns whether the file has the key.
func (v Value) Given() bool { return v.node != nil }

// IsMapping returns whether the value is a mapping.
func (v Value) IsMapping() bool { return v.node != nil && v.node.Kind == yaml.MappingNode }

// At returns the position of a key that a mapping lacks, or of a decoded value.
func (v Value) At(key string) Value { return Value{Key: join(v.Key, key), Line: v.Line} }

// Text returns the text of a scalar, and false for a list, a mapping or null.
func (v Value) Text() (string, bool) {
	if v.node == nil || v.node.Kind != yaml.ScalarNode || isNull(v.node) {
		return "", false
	}
	return v.node.Value, true
}

// String describes the value in messages: "a list", "a mapping", "nothing", or its text in quotes.
func (v Value) String() string { return describe(v.node) }

// Items returns the values of a list, and false if the value is no list.
func (v Value) Items() ([]Value, bool) {
	if v.node == nil || v.node.Kind != yaml.SequenceNode {
		return nil, false
	}
	items := make([]Value, len(v.node.Content))
	for i, n := range v.node.Content {
		n = follow(n)
		items[i] = Value{Key: index(v.Key, i), Line: n.Line, node: n}
	}
	return items, true
}

// Entry is one line of a mapping. Both values have the Key of the entry.
type Entry struct{ Name, Value Value }

// Entries returns a mapping in the order of the file, and false if the value is no mapping.
func (v Value) Entries() ([]Entry, bool) {
	if !v.IsMapping() {
		return nil, false
	}
	entries := make([]Entry, len(v.node.Content)/2)
	for i := range entries {
		k, n := v.node.Content[2*i], follow(v.node.Content[2*i+1])
		key := join(v.Key, k.Value)
		entries[i] = Entry{Name: Value{Key: key, Line: k.Line, node: k}, Value: Value{Key: key, Line: n.Line, node: n}}
	}
	return entries, true
}

// Fit decodes a mapping into the struct that into points to and returns what does not fit.
func (v Value) Fit(into any) []*FieldError {
	w := walker{inside: map[*yaml.Node]bool{v.node: true}}
	w.mapping(v.node, reflect.ValueOf(into).Elem(), v.Key)
	return w.problems
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

func describe(n *yaml.Node) string {
	switch {
	case n == nil || isNull(n):
		return "nothing"
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	}
	return fmt.Sprintf("%q", n.Value)
}
