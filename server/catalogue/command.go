package catalogue

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Launch holds what a command line depends on besides the arguments.
type Launch struct {
	Shape batch.Shape // the chosen shape of the job
	// Paths holds the path of each file and of each array's block, by argument name. The
	// placeholder of a missing name becomes the empty string.
	Paths map[string]string
	// Script is the path of the service's script, if it has one.
	Script string
}

// template is text with placeholders: an element of an argument vector, or the value of
// an environment variable.
type template []piece

// piece is literal text or, where arg is not textPiece, a placeholder.
type piece struct {
	text   string
	arg    int    // index in Service.Arguments, or one of the constants below
	member member // of the argument; noMember for the argument itself
}

const (
	textPiece     = -1
	widthPiece    = -2
	walltimePiece = -3
)

type envTemplate struct {
	name  string
	value template
}

// Args returns the argument vector of a job. Each element of the catalogue's command
// becomes exactly one element, whatever the values of its placeholders. For a script they
// follow its interpreter and path.
func (s *Service) Args(v Values, l Launch) []string {
	out := make([]string, 0, len(s.command)+3)
	if s.Script != nil {
		out = append(append(out, s.Script.interpreter...), l.Script)
	}
	for _, t := range s.command {
		out = append(out, t.fill(v, l))
	}
	return out
}

// Environ returns the environment variables that the catalogue sets for a job; nil if it
// sets none.
func (s *Service) Environ(v Values, l Launch) map[string]string {
	if len(s.env) == 0 {
		return nil
	}
	out := make(map[string]string, len(s.env))
	for _, e := range s.env {
		out[e.name] = e.value.fill(v, l)
	}
	return out
}

func (t template) fill(v Values, l Launch) string {
	if len(t) == 1 && t[0].arg == textPiece {
		return t[0].text
	}
	var b strings.Builder
	for _, p := range t {
		switch p.arg {
		case textPiece:
			b.WriteString(p.text)
		case widthPiece:
			b.WriteString(strconv.Itoa(int(l.Shape.Width)))
		case walltimePiece:
			b.WriteString(strconv.FormatInt(int64(l.Shape.Walltime.CeilSeconds()/batch.Second), 10))
		default:
			a := &v.service.Arguments[p.arg]
			switch {
			case p.member != noMember:
				b.WriteString(strconv.FormatInt(v.member(p.arg, p.member), 10))
			case a.Type.In() || a.Type.Out():
				b.WriteString(l.Paths[a.Name])
			default:
				b.WriteString(v.list[p.arg].String())
			}
		}
	}
	return b.String()
}

// parseTemplate parses text with placeholders {name}; {{ and }} are literal braces.
func parseTemplate(s string, args []Argument) (template, error) {
	if strings.IndexByte(s, 0) >= 0 {
		return nil, fmt.Errorf("%q contains a NUL byte, accepted: text without NUL", s)
	}
	var (
		t    template
		text strings.Builder
	)
	flush := func() {
		if text.Len() > 0 {
			t = append(t, piece{text: text.String(), arg: textPiece})
			text.Reset()
		}
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case (c == '{' || c == '}') && i+1 < len(s) && s[i+1] == c:
			text.WriteByte(c)
			i++
		case c == '{':
			name, _, closed := strings.Cut(s[i+1:], "}")
			p, known := placeholder(name, args)
			if !closed || !known {
				return nil, fmt.Errorf("placeholder %q in %q, accepted: %s", name, s, placeholders(args))
			}
			flush()
			t = append(t, p)
			i += len(name) + 1
		case c == '}':
			return nil, fmt.Errorf("single } in %q, accepted: }} for a brace", s)
		default:
			text.WriteByte(c)
		}
	}
	flush()
	return t, nil
}

func placeholder(name string, args []Argument) (piece, bool) {
	switch name {
	case "width":
		return piece{arg: widthPiece}, true
	case "walltime":
		return piece{arg: walltimePiece}, true
	}
	name, of, has := strings.Cut(name, ".")
	for i := range args {
		if args[i].Name == name {
			m := args[i].Type.members()[of]
			return piece{arg: i, member: m}, m != noMember || !has
		}
	}
	return piece{}, false
}

func placeholders(args []Argument) string {
	var b strings.Builder
	b.WriteString("{width}, {walltime}")
	for i := range args {
		b.WriteString(", {" + args[i].Name + "}")
		for _, of := range slices.Sorted(maps.Keys(args[i].Type.members())) {
			b.WriteString(", {" + args[i].Name + "." + of + "}")
		}
	}
	return b.String() + ", and {{ for a brace"
}
