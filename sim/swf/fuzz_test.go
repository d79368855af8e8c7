package swf

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// FuzzRead holds any text against the oracle: the same jobs, or a mistake in
// the same line and field. What was read, written and read again is the same.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		okLine,
		"; MaxProcs: 9\r\n\t" + strings.ReplaceAll(okLine, " ", " \t") + "\r\n;\n\n" + okLine,
		line(FieldAvgCPU, "142.50") + "\n" + line(FieldSubmit, "-0.4") + "\n" + line(FieldWait, "-17"),
		line(FieldReqMem, "99999999999999999999"),
		line(FieldUser, "12345678") + "\n" + line(FieldGroup, "123456789") + "\n" + line(FieldApp, "1.0"),
		line(FieldThinkTime, "-1") + " \n" + line(FieldStatus, "128"),
		okLine + " 19",
		"1 2 3",
		"1 2 -1x 3",
		"\x1f\x8b\x08",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := Read(bytes.NewReader(text))
		if len(text) <= MaxLineBytes && !bytes.HasPrefix(text, []byte{0x1f, 0x8b}) {
			want, wrongLine, wrongField := oracle(string(text))
			agree(t, got, err, want, wrongLine, wrongField)
		}
		if err == nil {
			roundTrip(t, got)
		}
	})
}

func agree(t interface{ Fatalf(string, ...any) }, got *Trace, err error, want *Trace, wrongLine int, wrongField Field) {
	var wrong *ParseError
	switch {
	case err == nil && want == nil:
		t.Fatalf("read %d jobs, want a mistake in line %d, field %d", len(got.Jobs), wrongLine, wrongField)
	case err == nil:
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("differs from the oracle (-want +got):\n%s", diff)
		}
	case !errors.As(err, &wrong):
		t.Fatalf("error %v, want a ParseError", err)
	case wrong.Line != wrongLine || wrong.Field != wrongField:
		t.Fatalf("error %v, want line %d, field %d", err, wrongLine, wrongField)
	}
}

func roundTrip(t interface{ Fatalf(string, ...any) }, trace *Trace) {
	var b bytes.Buffer
	if err := Write(&b, trace); err != nil {
		t.Fatalf("write: %v", err)
	}
	again, err := Read(&b)
	if err != nil {
		t.Fatalf("read what was written: %v", err)
	}
	want := &Trace{Header: trace.Header, Jobs: trace.Jobs} // in order and normal now
	if diff := cmp.Diff(want, again, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("differs after writing (-want +got):\n%s", diff)
	}
}

func TestReadAgreesWithTheOracleOnValidWorkloads(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := drawWorkload(t)
		want, wrongLine, wrongField := oracle(text)
		if want == nil {
			t.Fatalf("the generator made a mistake in line %d, field %d", wrongLine, wrongField)
		}
		got, err := Read(strings.NewReader(text))
		agree(t, got, err, want, 0, 0)
		roundTrip(t, got)
	})
}

// drawWorkload writes valid lines in every layout.
func drawWorkload(t *rapid.T) string {
	blank := rapid.SampledFrom([]string{" ", " ", "  ", "\t", "         ", " \t"})
	around := rapid.SampledFrom([]string{"", "", " ", "\t ", "\r"})
	var b strings.Builder
	for range rapid.IntRange(0, 20).Draw(t, "lines") {
		b.WriteString(around.Draw(t, "indent"))
		switch rapid.IntRange(0, 9).Draw(t, "kind") {
		case 0:
			b.WriteString(";" + rapid.StringMatching(`[ -~]{0,20}`).Draw(t, "comment"))
		case 1: // blank
		default:
			for i := range columns {
				if i > 0 {
					b.WriteString(blank.Draw(t, "blank"))
				}
				b.WriteString(drawNumber(t, &columns[i]))
			}
		}
		b.WriteString(around.Draw(t, "behind") + "\n")
	}
	text := b.String()
	if rapid.Bool().Draw(t, "no newline at the end") {
		text = strings.TrimSuffix(text, "\n")
	}
	return text
}

func drawNumber(t *rapid.T, c *column) string {
	if !c.required && rapid.Bool().Draw(t, "unknown") {
		return rapid.SampledFrom([]string{"-1", "-1", "-1.00", "-17", "-123456789"}).Draw(t, "negative")
	}
	// Every length is as likely as the others.
	size := rapid.SampledFrom([]uint64{9, 99, 9_999_999, 99_999_999, 999_999_999, c.max - 1}).Draw(t, "size")
	number := fmt.Sprint(rapid.Uint64Range(0, min(size, c.max-1)).Draw(t, "number"))
	if c.decimals && rapid.IntRange(0, 3).Draw(t, "decimals") == 0 {
		number += "." + rapid.StringMatching(`[0-9]{1,4}`).Draw(t, "decimal part")
	}
	return number
}
