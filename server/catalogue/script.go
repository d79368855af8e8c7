package catalogue

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// MaxScript is the largest batch script, bytes.
const MaxScript = 256 << 10

// Files returns the content of a file that a catalogue names.
type Files func(name string) ([]byte, error)

// Script is a service given as a batch script. Its fields are to be read only.
type Script struct {
	Text string
	// Options are those of its #SBATCH lines that hold, for sbatch. Sites without
	// Slurm have no use for them.
	Options []string
	// Notes say, a line each, what about its #SBATCH lines does not hold.
	Notes []string

	interpreter []string // of its first line
	perCPU      string   // --mem-per-cpu, if it has any
	mem         bool     // it says how much memory it needs, somehow
	oneNode     bool     // it is to run on one
	most        int32    // processors of that; 0: not known
}

// ParseScript reads a batch script. The error joins everything in it that makes it
// none.
func ParseScript(text string) (*Script, error) {
	s := &Script{Text: text}
	if len(text) > MaxScript || !utf8.ValidString(text) || strings.IndexByte(text, 0) >= 0 {
		return nil, fmt.Errorf("accepted: text of at most %d bytes", MaxScript)
	}
	first, _, _ := strings.Cut(text, "\n")
	if s.interpreter = strings.Fields(strings.TrimPrefix(first, "#!")); !strings.HasPrefix(first, "#!") || len(s.interpreter) == 0 {
		return nil, fmt.Errorf("first line %.40q, accepted: #! and an interpreter", first)
	}
	if strings.HasSuffix(first, "\r") {
		return nil, errors.New("lines end with a carriage return, accepted: without")
	}
	if len(s.interpreter) > 2 { // as kernels do
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
			s.note(n, "%s: behind the first command, where Slurm does not see it", strings.TrimSpace(line))
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

// directives takes up what one #SBATCH line says.
func (s *Script) directives(line int, text string) error {
	if word := strings.TrimSpace(text); word == "hetjob" || word == "packjob" || word == ":" {
		return errors.New("a heterogeneous job, accepted: one that is all of a kind")
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
			s.Options = append(s.Options, "--nodes=1") // threads: not how many, but where
			s.oneNode = true
			continue
		case r.why != "":
			s.note(line, "%v is left out: %s", d, r.why)
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

// memory settles what a script and its service say about memory: the service wins,
// and a script's memory for each processor is its service's, which has none.
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
			s.Notes = append(s.Notes, o+" is left out: the memory of the service wins")
			continue
		}
		options = append(options, o)
	}
	s.Options = options
	return service
}

// parseSlurmMemory reads an amount as Slurm writes it: megabytes, or K, M, G, T.
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

// script reads a batch script: its text, or the file that it is in.
func (d *decoder) script(n *yaml.Node, path string) *Script {
	const accepted = "a script that begins with #!, or its file"
	text, ok := d.scalar(n, path, accepted)
	if !ok {
		return nil
	}
	if !strings.HasPrefix(text, "#!") {
		switch {
		case text == "" || strings.Contains(text, "\n"):
			d.fail(n, path, "accepted: %s", accepted)
			return nil
		case d.files == nil:
			d.fail(n, path, "file %q, accepted here: the script itself", text)
			return nil
		}
		data, err := d.files(text)
		if err != nil {
			d.fail(n, path, "%v, accepted: %s", err, accepted)
			return nil
		}
		text = string(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")))
	}
	s, err := ParseScript(text)
	if err != nil {
		d.fail(n, path, "%v", err)
		return nil
	}
	return s
}
