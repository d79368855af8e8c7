package catalogue

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/seed-9b8f70bb/drover/internal/config"
)

// MaxScript is the size of the largest batch script, in bytes.
const MaxScript = 256 << 10

// Files returns the content of a file that a catalogue refers to.
type Files func(name string) ([]byte, error)

// Script is the batch script of a service. Its fields are read-only.
type Script struct {
	Text string
	// Options are the sbatch options of its #SBATCH lines that apply. Sites without
	// Slurm ignore them.
	Options []string
	// Notes explain, one line each, which #SBATCH options do not apply or only in part.
	Notes []string

	interpreter []string // from its first line
	perCPU      string   // value of --mem-per-cpu; "" without one
	mem         bool     // it has another memory option
	oneNode     bool     // it must run on one node
	most        int32    // processors of that node; 0: unknown
}

// ParseScript parses a batch script. The error joins all problems of its #SBATCH lines.
func ParseScript(text string) (*Script, error) {
	s := &Script{Text: text}
	if len(text) > MaxScript || !utf8.ValidString(text) || strings.IndexByte(text, 0) >= 0 {
		return nil, fmt.Errorf("accepted: text of at most %d bytes", MaxScript)
	}
	first, _, _ := strings.Cut(text, "\n")
	s.interpreter = strings.Fields(strings.TrimPrefix(first, "#!"))
	if !strings.HasPrefix(first, "#!") || len(s.interpreter) == 0 {
		return nil, fmt.Errorf("first line %.40q, accepted: #! and an interpreter", first)
	}
	if strings.HasSuffix(first, "\r") {
		return nil, errors.New("lines end with a carriage return, accepted: lines that end with a newline only")
	}
	if len(s.interpreter) > 2 { // a kernel passes the rest of the line as one argument
		s.interpreter = []string{s.interpreter[0], strings.Join(s.interpreter[1:], " ")}
	}
	var errs []error
	begun := false
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimRight(line, "\n")
		rest, is := strings.CutPrefix(line, "#SBATCH")
		switch {
		case is && begun:
			s.note(n, "%s: after the first command, where Slurm ignores it", strings.TrimSpace(line))
		case is:
			if err := s.directives(n, rest); err != nil {
				errs = append(errs, fmt.Errorf("line %d of the script: %w", n, err))
			}
		case strings.TrimSpace(line) != "" && !strings.HasPrefix(line, "#"):
			begun = true
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *Script) note(line int, format string, args ...any) {
	s.Notes = append(s.Notes, fmt.Sprintf("line %d of the script: ", line)+fmt.Sprintf(format, args...))
}

// directives applies the options of one #SBATCH line.
func (s *Script) directives(line int, text string) error {
	if word := strings.TrimSpace(text); word == "hetjob" || word == "packjob" || word == ":" {
		return errors.New("a heterogeneous job, accepted: a homogeneous job")
	}
	list, err := parseDirectives(text)
	if err != nil {
		return err
	}
	for _, d := range list {
		r := rulings[d.name]
		switch {
		case r.refused != "":
			return fmt.Errorf("%v: %s", d, r.refused)
		case d.name == "nodes" && (d.value == "1" || d.value == "1-1"):
			// for threads: it places the processors, Drover sets their number
			s.Options = append(s.Options, "--nodes=1")
			s.oneNode = true
			continue
		case r.why != "":
			s.note(line, "%v is ignored: %s", d, r.why)
			continue
		case r.note != "":
			s.note(line, "%v: %s", d, r.note)
		}
		switch d.name {
		case "mem-per-cpu":
			s.perCPU = d.value
		case "mem", "mem-per-gpu":
			s.mem = true
		}
		s.Options = append(s.Options, d.String())
	}
	return nil
}

// memory resolves the memory of a script and its service in bytes for each task. The
// service's value replaces all memory options of the script. Without one, the script's
// --mem-per-cpu is used.
func (s *Script) memory(service int64) int64 {
	if service == 0 {
		if bytes, ok := parseSlurmMemory(s.perCPU); ok && !s.mem {
			return bytes
		}
		return 0
	}
	var options []string
	for _, o := range s.Options {
		if strings.HasPrefix(o, "--mem=") || strings.HasPrefix(o, "--mem-per-") {
			s.Notes = append(s.Notes, o+" is ignored: the memory of the service wins")
			continue
		}
		options = append(options, o)
	}
	s.Options = options
	return service
}

// parseSlurmMemory parses an amount in Slurm's format: megabytes, or with K, M, G or T.
// It returns bytes.
func parseSlurmMemory(text string) (int64, bool) {
	text = strings.TrimSuffix(strings.ToUpper(text), "B")
	unit := int64(1 << 20)
	if n := len(text) - 1; n > 0 {
		if i := strings.IndexByte("KMGT", text[n]); i >= 0 {
			unit, text = int64(1)<<(10*(i+1)), text[:n]
		}
	}
	var n int64
	if _, err := fmt.Sscanf(text, "%d", &n); err != nil || n < 1 || n > 1<<20 || fmt.Sprint(n) != text {
		return 0, false
	}
	return n * unit, true
}

// script decodes a batch script: its text or its file name.
func (d *decoder) script(v config.Value) *Script {
	const accepted = "a script that begins with #!, or its file name"
	text, ok := d.scalar(v, accepted)
	if !ok {
		return nil
	}
	if !strings.HasPrefix(text, "#!") {
		switch {
		case text == "" || strings.Contains(text, "\n"):
			d.fail(v, "accepted: %s", accepted)
			return nil
		case d.files == nil:
			d.fail(v, "file %q, accepted here: the script itself", text)
			return nil
		}
		data, err := d.files(text)
		if err != nil {
			d.fail(v, "%v, accepted: %s", err, accepted)
			return nil
		}
		text = string(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")))
	}
	s, err := ParseScript(text)
	if err != nil {
		d.fail(v, "%v", err)
		return nil
	}
	return s
}

// OnOneNode sets the number of processors of the machine's largest node. Batch scripts
// that request one node (--nodes=1) get at most that width. Call it before Shapes.
func (c *Catalogue) OnOneNode(processors int32) {
	for _, s := range c.services {
		if s.Script != nil && s.Script.oneNode {
			s.Script.most = processors
		}
	}
}

// within returns the largest width of a service on a machine with most processors.
func (s *Service) within(most int32) int32 {
	if s.Script != nil && s.Script.most > 0 {
		return min(most, s.Script.most)
	}
	return most
}
