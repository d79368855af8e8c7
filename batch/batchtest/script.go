package batchtest

import (
	"bufio"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-9b8f70bb/drover/batch"
)

// script is a parsed script.
type script struct {
	processors int32
	memory     int64 // per processor
	steps      []step
	text       string // up to the dashes
	want       string // after them
}

// step is one command at one instant.
type step struct {
	at     batch.Time
	verb   string
	id     int
	shapes []batch.Shape
	option map[string]int64
}

const dashes = "----\n"

func parse(text string) (*script, error) {
	s := &script{}
	var found bool
	if s.text, s.want, found = strings.Cut(text, dashes); !found {
		return nil, fmt.Errorf("no line of dashes")
	}
	lines := bufio.NewScanner(strings.NewReader(s.text))
	for n := 1; lines.Scan(); n++ {
		line, _, _ := strings.Cut(lines.Text(), "#")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		if err := s.line(words); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
	}
	if s.processors < 1 {
		return nil, fmt.Errorf("no processors")
	}
	slices.SortStableFunc(s.steps, func(a, b step) int { return int(a.at - b.at) })
	return s, nil
}

func (s *script) line(words []string) error {
	number, err := strconv.ParseInt(words[len(words)-1], 10, 32)
	switch words[0] {
	case "processors":
		s.processors = int32(number)
		return err
	case "memory":
		s.memory = number
		return err
	}
	at, err := strconv.ParseFloat(words[0], 64)
	if err != nil || len(words) < 3 {
		return fmt.Errorf("want TIME COMMAND ARGUMENTS, got %q", words)
	}
	st := step{at: batch.Time(at * float64(batch.Second)), verb: words[1], option: map[string]int64{}}
	words = words[2:]
	if st.verb != "estimate" {
		if st.id, err = strconv.Atoi(words[0]); err != nil {
			return err
		}
		words = words[1:]
	}
	for len(words) > 0 && strings.Contains(words[0], "x") {
		var w int32
		var d float64
		if _, err := fmt.Sscanf(words[0], "%dx%f", &w, &d); err != nil {
			return fmt.Errorf("shape %q: %w", words[0], err)
		}
		st.shapes = append(st.shapes, batch.Shape{Width: w, Walltime: batch.Duration(d * float64(batch.Second))})
		words = words[1:]
	}
	for ; len(words) > 0; words = words[1:] {
		if words[0] == "restore" {
			st.option["restore"] = 1
			continue
		}
		if len(words) < 2 {
			return fmt.Errorf("option %q has no value", words[0])
		}
		if st.option[words[0]], err = strconv.ParseInt(words[1], 10, 64); err != nil {
			return err
		}
		words = words[1:]
	}
	s.steps = append(s.steps, st)
	return nil
}

// time returns an option that is an instant.
func (s *step) time(option string) batch.Time {
	return batch.Time(s.option[option]) * batch.Time(batch.Second)
}

// spec returns a job with what the options say.
func (s *step) spec() *batch.Job {
	_, agreed := s.option["by"]
	return &batch.Job{
		Memory: s.option["mem"], EarliestStart: s.time("from"), Deadline: s.time("by"), Agreed: agreed,
		Into: batch.Handle(s.option["into"]),
	}
}
