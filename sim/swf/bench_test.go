package swf

import (
	"bytes"
	"io"
	"strconv"
	"strings"
	"testing"
)

// BenchmarkReadFile is the speed over the inflated text.
func BenchmarkReadFile(b *testing.B) {
	for _, name := range []string{"syn50000.swf.gz", "CTC-SP2-1996-3.1-cln.swf.gz"} {
		b.Run(name, func(b *testing.B) {
			path := realTrace(b, name)
			b.SetBytes(int64(len(inflate(b, path))))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := ReadFile(path); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkRead leaves out the file and gzip.
func BenchmarkRead(b *testing.B) {
	text := syntheticText(b, 50_000)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Read(strings.NewReader(text)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkWrite(b *testing.B) {
	text := syntheticText(b, 50_000)
	trace, err := Read(strings.NewReader(text))
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if err := Write(io.Discard, trace); err != nil {
			b.Fatal(err)
		}
	}
}

func syntheticText(b *testing.B, jobs int) string {
	b.Helper()
	trace := &Trace{Jobs: make([]Job, jobs)}
	trace.Header.Add("MaxRecords", strconv.Itoa(jobs)) // as real logs have it
	at := int64(0)
	for i := range trace.Jobs {
		n := int64(i)
		at += n * 7919 % 600
		trace.Jobs[i] = Job{
			ID: n + 1, Submit: at, Wait: Unknown, Run: n * 104729 % 40_000, AvgCPU: Unknown, UsedMem: Unknown,
			ReqTime: 3600 * (1 + n%24), ReqMem: Unknown, PrecedingJob: Unknown, ThinkTime: Unknown,
			UsedProcs: 1 << (n % 9), ReqProcs: 1 << (n % 9), User: int32(n % 61), Group: 1, App: 1, Queue: 1,
			Partition: 1,
			Status:    StatusCompleted,
		}
	}
	var text bytes.Buffer
	if err := Write(&text, trace); err != nil {
		b.Fatal(err)
	}
	return text.String()
}
