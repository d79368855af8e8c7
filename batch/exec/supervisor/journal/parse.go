package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/seed-9b8f70bb/drover/batch/exec/process"
)

// version is the version of the format.
const version = 1

// line is any line of a file.
type line struct {
	V     int    `json:"v,omitempty"`
	Claim Kind   `json:"claim,omitempty"`
	By    string `json:"by,omitempty"`

	Pid   int    `json:"pid,omitempty"`
	Start uint64 `json:"start,omitempty"`
	Boot  string `json:"boot,omitempty"`

	Exit   *int   `json:"exit,omitempty"`
	Signal string `json:"signal,omitempty"`
	Failed string `json:"failed,omitempty"`
	Errno  int    `json:"errno,omitempty"` // beside Failed
	Own    bool   `json:"own,omitempty"`   // beside Exit and Signal: End.Unsignaled
	Never  string `json:"never,omitempty"`
	Lost   string `json:"lost,omitempty"`

	At time.Time `json:"at"`
}

// encode returns a line with its newline.
func (l *line) encode() []byte {
	l.At = l.At.UTC().Truncate(time.Microsecond)
	text, err := json.Marshal(l)
	if err != nil {
		panic(fmt.Sprintf("attempt file: encode %+v: %v", *l, err)) // numbers, strings, a date of this era
	}
	return append(text, '\n')
}

// parse reads the lines of the named file, and returns their length in bytes without an
// incomplete last one.
func parse(name string, text []byte) (s State, whole int, err error) {
	number := 0
	for {
		end := bytes.IndexByte(text[whole:], '\n')
		if end < 0 {
			break
		}
		number++
		if err := s.add(text[whole : whole+end]); err != nil {
			return State{}, 0, &DamagedError{File: name, Line: number, Err: err}
		}
		whole += end + 1
	}
	if number == 0 { // the file never exists without its claim
		return State{}, 0, &DamagedError{File: name, Line: 1, Err: errors.New("no claim")}
	}
	return s, whole, nil
}

// add takes the next line.
func (s *State) add(text []byte) error {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	var l line
	if err := dec.Decode(&l); err != nil {
		return fmt.Errorf("malformed line: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("more than one value")
	}
	only := l
	switch {
	case s.Claimer.Kind == "":
		if l.V != version {
			return fmt.Errorf("version %d, accepted: %d", l.V, version)
		}
		if l.Claim != Supervisor && l.Claim != Server {
			return fmt.Errorf("claim %.20q, accepted: %q, %q", l.Claim, Supervisor, Server)
		}
		only = line{V: l.V, Claim: l.Claim, By: l.By, At: l.At}
		s.Claimer, s.Claimed = Claimer{l.Claim, l.By}, l.At
	case s.Claimer.Kind == Server || s.End.Kind != 0:
		return errors.New("a line after the end")
	case l.Pid != 0:
		if s.Run.Pid != 0 || l.Pid < 0 {
			return errors.New("not the process of this attempt")
		}
		only = line{Pid: l.Pid, Start: l.Start, Boot: l.Boot, At: l.At}
		s.Run, s.Started = process.ID{Pid: l.Pid, Start: l.Start, Boot: l.Boot}, l.At
	default:
		s.End = l.end()
		if s.End.Kind == 0 {
			return errors.New("neither a process nor an end")
		}
		if s.Run.Pid == 0 && s.End.Kind != Failed && s.End.Kind != Never {
			return errors.New("an end without a process")
		}
		only = *lineOf(s.End)
	}
	if !only.equal(&l) {
		return errors.New("a combination of fields that no line has")
	}
	return nil
}

// equal compares instants and codes by value.
func (l *line) equal(m *line) bool {
	a, b := *l, *m
	if (a.Exit == nil) != (b.Exit == nil) || a.Exit != nil && *a.Exit != *b.Exit || !a.At.Equal(b.At) {
		return false
	}
	a.Exit, b.Exit, a.At, b.At = nil, nil, time.Time{}, time.Time{}
	return a == b
}

func (l *line) end() End {
	switch {
	case l.Exit != nil:
		return End{Kind: Exited, Code: *l.Exit, Unsignaled: l.Own, At: l.At}
	case l.Signal != "":
		return End{Kind: Signaled, Signal: l.Signal, Unsignaled: l.Own, At: l.At}
	case l.Failed != "":
		return End{Kind: Failed, Code: l.Errno, Reason: l.Failed, At: l.At}
	case l.Never != "":
		return End{Kind: Never, Reason: l.Never, At: l.At}
	case l.Lost != "":
		return End{Kind: Lost, Reason: l.Lost, At: l.At}
	}
	return End{}
}

// longestReason bounds a reason in the file, in bytes.
const longestReason = 1 << 10

func lineOf(e End) *line {
	l := &line{At: e.At}
	reason := strings.ToValidUTF8(e.Reason[:min(len(e.Reason), longestReason)], "")
	if reason == "" {
		reason = "unknown"
	}
	switch e.Kind {
	case Exited:
		l.Exit, l.Own = &e.Code, e.Unsignaled
	case Signaled:
		l.Signal, l.Own = e.Signal, e.Unsignaled
	case Failed:
		l.Failed, l.Errno = reason, e.Code
	case Never:
		l.Never = reason
	case Lost:
		l.Lost = reason
	}
	return l
}
