package swf

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"
)

const okLine = "1 2 3 4 5 6 7 8 9 10 1 12 13 14 15 16 17 18"

var okJob = Job{
	ID: 1, Submit: 2, Wait: 3, Run: 4, UsedProcs: 5, AvgCPU: 6, UsedMem: 7, ReqProcs: 8,
	ReqTime: 9, ReqMem: 10, Status: 1, User: 12, Group: 13, App: 14, Queue: 15, Partition: 16,
	PrecedingJob: 17, ThinkTime: 18,
}

func mustRead(t *testing.T, text string) *Trace {
	t.Helper()
	trace, err := Read(strings.NewReader(text))
	if err != nil {
		t.Fatalf("read %.200q: %v", text, err)
	}
	return trace
}

func TestReadAcceptsEveryLayoutOfTheSameJob(t *testing.T) {
	for name, text := range map[string]string{
		"plain":                  okLine + "\n",
		"no newline at the end":  okLine,
		"CRLF":                   okLine + "\r\n",
		"carriage return at end": okLine + "\r",
		"tabs":                   strings.ReplaceAll(okLine, " ", "\t"),
		"wide columns":           "      " + strings.ReplaceAll(okLine, " ", "          ") + "   \n",
		"mixed blanks":           " \t " + strings.ReplaceAll(okLine, " ", " \t  ") + " \t\r\n",
		"blank lines":            "\n\r\n  \t\n" + okLine + "\n\n \n",
		"decimal part of zero":   strings.ReplaceAll(okLine, " ", ".00 ") + ".0\n",
		"leading zeros":          "000000000000000000000000" + strings.ReplaceAll(okLine, " ", " 0000000"),
	} {
		t.Run(name, func(t *testing.T) {
			want := &Trace{Jobs: []Job{okJob}}
			if diff := cmp.Diff(want, mustRead(t, text)); diff != "" {
				t.Errorf("read differs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReadKeepsCommentsOfAllPlaces(t *testing.T) {
	got := mustRead(t, "; MaxProcs: 8 \r\n;\n"+okLine+"\n \t;  in between;\n"+okLine+"\n;last")
	want := []string{" MaxProcs: 8", "", "  in between;", "last"}
	if diff := cmp.Diff(want, got.Header.Comments); diff != "" {
		t.Errorf("comments differ (-want +got):\n%s", diff)
	}
	if len(got.Jobs) != 2 {
		t.Errorf("%d jobs, want 2", len(got.Jobs))
	}
}

func TestReadOfEmptyInputIsAnEmptyTrace(t *testing.T) {
	for _, text := range []string{"", "\n", "; only a comment"} {
		if got := mustRead(t, text); len(got.Jobs) != 0 {
			t.Errorf("read %q: %d jobs, want none", text, len(got.Jobs))
		}
	}
}

// line is okLine with one field replaced.
func line(f Field, value string) string {
	words := strings.Fields(okLine)
	words[f-1] = value
	return strings.Join(words, " ")
}

func TestReadRoundsAmountsToTheNearestHalvesUp(t *testing.T) {
	for text, want := range map[string]int64{
		"142.00": 142, "0.49": 0, "0.5": 1, "1.499999": 1, "12345678.5": 12345679, "7.": -2, ".5": -2,
		"-0": 0, "-0.4": 0, "-0.5": Unknown, "-1.0": Unknown, "1e3": -2, "1:30": -2, "1/2": -2, "1.50": 2, "+5": -2,
		"1.2.3": -2, "-": -2, "--1": -2,
	} {
		trace, err := Read(strings.NewReader(line(FieldRun, text)))
		switch {
		case want == -2 && err == nil:
			t.Errorf("run time %s: read as %d, want an error", text, trace.Jobs[0].Run)
		case want == -2:
		case err != nil:
			t.Errorf("run time %s: %v", text, err)
		case trace.Jobs[0].Run != want || trace.Normalized != 0:
			t.Errorf("run time %s: read as %d, %d normalized, want %d", text, trace.Jobs[0].Run, trace.Normalized, want)
		}
	}
}

func TestReadTakesNegativeValuesForUnknownAndCountsThem(t *testing.T) {
	for f := FieldWait; f <= FieldThinkTime; f++ {
		for value, normalized := range map[string]int{
			"-1": 0, "-2": 1, "-10": 1, "-99999999999999999999": 1,
		} {
			got := mustRead(t, line(f, value))
			if v := got.Jobs[0].values(); v[f-1] != Unknown || got.Normalized != normalized {
				t.Errorf("%s %s: read as %d, %d normalized, want -1 and %d", f, value, v[f-1], got.Normalized,
					normalized)
			}
		}
	}
}

func TestReadSortsBySubmissionAndKeepsTheOrderOfEqualTimes(t *testing.T) {
	var text strings.Builder
	for i, submit := range []int{5, 3, 5, 9, 3, 0, 9, 10} {
		fmt.Fprintf(&text, "%d %d%s\n", i+1, submit, strings.Repeat(" -1", 16))
	}
	got := mustRead(t, text.String())
	var ids []int64
	for _, j := range got.Jobs {
		ids = append(ids, j.ID)
	}
	if diff := cmp.Diff([]int64{6, 2, 5, 1, 3, 4, 7, 8}, ids); diff != "" {
		t.Errorf("order differs (-want +got):\n%s", diff)
	}
	if got.Reordered != 3 { // 2, 5 and 6 stood behind a later one
		t.Errorf("%d reordered, want 3", got.Reordered)
	}
}

func TestReadNamesLineFieldAndAcceptedRange(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       ParseError
	}{
		{"missing last", "1 2 3 4 5 6 7 8 9 10 1 12 13 14 15 16 17", ParseError{
			Line: 3, Field: FieldThinkTime, Reason: "missing; a line has 18 fields",
		}},
		{"missing with blanks behind", "1 2 3 \t \r", ParseError{
			Line: 3, Field: FieldRun, Reason: "missing; a line has 18 fields",
		}},
		{"a field too many", okLine + " 19", ParseError{
			Line: 3, Value: "19", Reason: "more than 18 fields",
		}},
		{"a comment behind", okLine + " ;x", ParseError{
			Line: 3, Value: ";x", Reason: "more than 18 fields",
		}},
		{"word", line(FieldReqTime, "3h"), ParseError{
			Line: 3, Field: FieldReqTime, Value: "3h",
			Reason: "not a number; accepted: 0 to 10000000000, or -1 for unknown",
		}},
		{"vertical tab is no blank", line(FieldWait, "-1\v"), ParseError{
			Line: 3, Field: FieldWait, Value: "-1\v",
			Reason: "not a number; accepted: 0 to 10000000000, or -1 for unknown",
		}},
		{"half a processor", line(FieldUsedProcs, "1.5"), ParseError{
			Line: 3, Field: FieldUsedProcs, Value: "1.5",
			Reason: "not a whole number; accepted: 0 to 1000000000, or -1 for unknown",
		}},
		{"half a processor, two digits", line(FieldUsedProcs, "1.50"), ParseError{
			Line: 3, Field: FieldUsedProcs, Value: "1.50",
			Reason: "not a whole number; accepted: 0 to 1000000000, or -1 for unknown",
		}},
		{"10^12 processors", line(FieldReqProcs, "1000000000000"), ParseError{
			Line: 3, Field: FieldReqProcs, Value: "1000000000000",
			Reason: "out of range; accepted: 0 to 1000000000, or -1 for unknown",
		}},
		{"overflow", line(FieldReqMem, "18446744073709551617"), ParseError{
			Line: 3, Field: FieldReqMem, Value: "18446744073709551617",
			Reason: "out of range; accepted: 0 to 1000000000000000, or -1 for unknown",
		}},
		{"rounded above the limit", line(FieldRun, "10000000000.5"), ParseError{
			Line: 3, Field: FieldRun, Value: "10000000000.5",
			Reason: "out of range; accepted: 0 to 10000000000, or -1 for unknown",
		}},
		{"status", line(FieldStatus, "128"), ParseError{
			Line: 3, Field: FieldStatus, Value: "128", Reason: "out of range; accepted: 0 to 127, or -1 for unknown",
		}},
		{"no job number", line(FieldID, "-1"), ParseError{
			Line: 3, Field: FieldID, Value: "-1", Reason: "must be known; accepted: 0 to 1000000000000000",
		}},
		{"no submit time", line(FieldSubmit, "-1"), ParseError{
			Line: 3, Field: FieldSubmit, Value: "-1", Reason: "must be known; accepted: 0 to 10000000000",
		}},
		{"long value is cut", line(FieldApp, strings.Repeat("x", 100)), ParseError{
			Line: 3, Field: FieldApp, Value: strings.Repeat("x", 64),
			Reason: "not a number; accepted: 0 to 2147483647, or -1 for unknown",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			trace, err := Read(strings.NewReader("; one\n" + okLine + "\n" + c.text + "\n" + okLine + "\n"))
			var got *ParseError
			if !errors.As(err, &got) || trace != nil {
				t.Fatalf("got %v and %v, want only a ParseError", trace, err)
			}
			if diff := cmp.Diff(c.want, *got); diff != "" {
				t.Errorf("error differs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReadLimitsEveryField(t *testing.T) {
	for i, c := range columns {
		f := Field(i + 1)
		got := mustRead(t, line(f, fmt.Sprint(c.max)))
		if v := got.Jobs[0].values(); v[i] != int64(c.max) {
			t.Errorf("%s: read as %d, want its limit %d", f, v[i], c.max)
		}
		var wrong *ParseError
		if _, err := Read(strings.NewReader(line(f, fmt.Sprint(c.max+1)))); !errors.As(err, &wrong) ||
			wrong.Field != f {
			t.Errorf("%s one above its limit: error %v", f, err)
		}
	}
}

func TestReadLimitsLinesCommentsAndJobs(t *testing.T) {
	padded := func(n int) string { return okLine + strings.Repeat(" ", n-len(okLine)) }
	mustRead(t, okLine+"\n"+padded(MaxLineBytes))
	mustRead(t, okLine+"\n;"+strings.Repeat("x", MaxLineBytes-1)+"\n"+okLine)
	comment := ";" + strings.Repeat("x", 1<<15-1) + "\n"
	mustRead(t, strings.Repeat(comment, MaxCommentBytes>>15))

	for name, c := range map[string]struct {
		text string
		line int
	}{
		"line":              {okLine + "\n" + padded(MaxLineBytes+1) + "\n" + okLine, 2},
		"line without end":  {okLine + "\n" + strings.Repeat("1 ", 200_000), 2},
		"blank line":        {strings.Repeat(" ", 2*blockBytes), 1},
		"comment line":      {okLine + "\n\n;" + strings.Repeat("x", MaxLineBytes) + "\n", 3},
		"comments together": {strings.Repeat(comment, MaxCommentBytes>>15) + ";", MaxCommentBytes>>15 + 1},
	} {
		_, err := Read(strings.NewReader(c.text))
		var wrong *ParseError
		if !errors.As(err, &wrong) || wrong.Line != c.line {
			t.Errorf("%s: error %v, want a ParseError of line %d", name, err, c.line)
		}
	}

	three := strings.Repeat(okLine+"\n", 3)
	if _, err := read(strings.NewReader(three), "", 3); err != nil {
		t.Errorf("3 jobs of 3: %v", err)
	}
	var wrong *ParseError
	if _, err := read(strings.NewReader(three), "", 2); !errors.As(err, &wrong) || wrong.Line != 3 {
		t.Errorf("3 jobs of 2: error %v", err)
	}
}

func TestReadDoesNotDependOnHowTheInputArrives(t *testing.T) {
	text := manyJobs(3 * blockBytes / 20)
	want := mustRead(t, text)
	if len(want.Jobs) != 3*blockBytes/20 {
		t.Fatalf("%d jobs, want %d", len(want.Jobs), 3*blockBytes/20)
	}
	for name, r := range map[string]io.Reader{
		"bytes":   iotest.OneByteReader(strings.NewReader(text)),
		"halves":  iotest.HalfReader(strings.NewReader(text)),
		"EOF too": iotest.DataErrReader(strings.NewReader(text)),
		"gzip":    bytes.NewReader(zip(text)),
		"two gzip members": io.MultiReader(
			bytes.NewReader(zip(text[:len(text)/2])), bytes.NewReader(zip(text[len(text)/2:]))),
	} {
		got, err := Read(r)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if !slices.Equal(want.Jobs, got.Jobs) || want.Reordered != got.Reordered {
			t.Errorf("%s: other jobs", name)
		}
	}
}

// manyJobs writes a workload as long as a test needs, of lines of many lengths.
func manyJobs(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%d %d%s %s\n", i, i*i%1_000_003, strings.Repeat(" -1", 15), "123456789"[:1+i%9])
	}
	return b.String()
}

func zip(text string) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(text)) // a buffer takes everything
	_ = w.Close()
	return b.Bytes()
}

func TestReadPassesOnFailuresOfTheInput(t *testing.T) {
	zipped := zip(strings.Repeat(okLine+"\n", 100_000))
	damaged := bytes.Clone(zipped)
	damaged[len(damaged)-5] ^= 1 // of the checksum
	broken := errors.New("cable cut")
	for name, c := range map[string]struct {
		r    io.Reader
		want error
	}{
		"reader":          {io.MultiReader(strings.NewReader(okLine), iotest.ErrReader(broken)), broken},
		"reader at once":  {iotest.ErrReader(broken), broken},
		"idle reader":     {idle{}, io.ErrNoProgress},
		"idle later":      {io.MultiReader(strings.NewReader(okLine+"\n"), idle{}), io.ErrNoProgress},
		"cut gzip":        {bytes.NewReader(zipped[:len(zipped)/2]), io.ErrUnexpectedEOF},
		"cut gzip header": {bytes.NewReader(zipped[:5]), io.ErrUnexpectedEOF},
		"damaged gzip":    {bytes.NewReader(damaged), gzip.ErrChecksum},
	} {
		if trace, err := Read(c.r); !errors.Is(err, c.want) || trace != nil {
			t.Errorf("%s: got %v, %v, want only the error %v", name, trace, err, c.want)
		}
	}
}

type idle struct{}

func (idle) Read([]byte) (int, error) { return 0, nil }

// A mistake in the first line ends reading while most of the input is not yet
// read; goleak sees to it that the other goroutine is gone.
func TestReadStopsAtTheFirstMistake(t *testing.T) {
	in := strings.NewReader("x\n" + strings.Repeat(okLine+"\n", 500_000))
	all := in.Len()
	var wrong *ParseError
	if _, err := Read(in); !errors.As(err, &wrong) || wrong.Line != 1 {
		t.Fatalf("error %v, want a ParseError of line 1", err)
	}
	if read := all - in.Len(); read > 2*blockCount*blockBytes {
		t.Errorf("%d bytes were read, want at most what the blocks hold", read)
	}
}

func TestReadFileNamesThePath(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.swf")
	if err := os.WriteFile(path, []byte("1 2 x"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := ReadFile(path)
	want := "swf: " + path + `:1: field 3 (wait time) "x": not a number; accepted: 0 to 10000000000, or -1 for unknown`
	if err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	if err := os.WriteFile(path, zip(okLine)[:20], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadFile(path); !errors.Is(err, io.ErrUnexpectedEOF) || !strings.Contains(err.Error(), path) {
		t.Errorf("cut file: error %v, want one with the path", err)
	}
	if _, err := ReadFile(path + "x"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: error %v, want fs.ErrNotExist", err)
	}
}
