package config

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// File is a configuration file that was read.
type File struct {
	root     yaml.Node
	problems []*FieldError // what does not fit
}

// syntax takes the line out of the YAML library's message.
var syntax = regexp.MustCompile(`^yaml: (?:line (\d+): )?(.*)$`)

// Read decodes YAML over what into, a pointer to a struct, holds. What does not
// fit is left as it was and told by Check. The error is a *FieldError for a file
// that is no YAML at all.
func Read(data []byte, into any) (*File, error) {
	f := &File{}
	d := yaml.NewDecoder(bytes.NewReader(data))
	if err := d.Decode(&f.root); errors.Is(err, io.EOF) {
		return f, nil
	} else if err != nil {
		return nil, syntaxError(err)
	}
	var more yaml.Node
	if err := d.Decode(&more); err == nil {
		return nil, &FieldError{Message: "more than one document, accepted: one", Line: more.Line}
	} else if !errors.Is(err, io.EOF) {
		return nil, syntaxError(err)
	}
	w := walker{inside: make(map[*yaml.Node]bool)}
	w.walk(f.root.Content[0], reflect.ValueOf(into).Elem(), "")
	f.problems = w.problems
	return f, nil
}

func syntaxError(err error) error {
	e := &FieldError{Message: "YAML: " + err.Error()}
	if m := syntax.FindStringSubmatch(err.Error()); m != nil {
		e.Message = "YAML: " + m[2]
		e.Line, _ = strconv.Atoi(m[1]) // digits or nothing, by the expression
	}
	return e
}

// Check joins what did not fit and what else was found wrong, by line; nil when
// all is well. Lines are added where they are not known, and what was found at a
// key that did not fit anyway is left out.
func (f *File) Check(found []*FieldError) error {
	all := slices.Clone(f.problems)
	for _, p := range found {
		known := slices.ContainsFunc(f.problems, func(bad *FieldError) bool {
			return bad.Key == p.Key || strings.HasPrefix(p.Key, bad.Key+".") || strings.HasPrefix(p.Key, bad.Key+"[") ||
				p.Value == "" && strings.HasPrefix(bad.Key, p.Key+".")
		})
		if known {
			continue
		}
		if p.Line == 0 {
			p.Line = f.Line(p.Key)
		}
		all = append(all, p)
	}
	slices.SortStableFunc(all, func(a, b *FieldError) int { return a.Line - b.Line })
	errs := make([]error, len(all))
	for i, p := range all {
		errs[i] = p
	}
	return errors.Join(errs...)
}

// step is one part of a key: "seeds" or "[0]".
var step = regexp.MustCompile(`\[(\d+)\]|[^.\[\]]+`)

// Line returns the line of the value at a key, or 0 where the file has none.
func (f *File) Line(key string) int {
	n := &f.root
	if n.Kind == yaml.DocumentNode {
		n = n.Content[0]
	}
	for _, m := range step.FindAllStringSubmatch(key, -1) {
		if n = child(follow(n), m[0], m[1]); n == nil {
			return 0
		}
	}
	return n.Line
}

// child returns a value of a mapping by its name, or of a list by its index.
func child(n *yaml.Node, name, index string) *yaml.Node {
	switch {
	case index != "":
		if i, err := strconv.Atoi(index); err == nil && n.Kind == yaml.SequenceNode && i < len(n.Content) {
			return n.Content[i]
		}
	case n.Kind == yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == name {
				return n.Content[i+1]
			}
		}
	}
	return nil
}

// follow returns what an alias stands for.
func follow(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}
