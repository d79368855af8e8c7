package store

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// benchJobs is the number of jobs that are alive in the benchmarks.
const benchJobs = 100_000

// jobID returns an ID in the format of a UUIDv7: later IDs are greater.
func jobID(n int) string {
	return fmt.Sprintf("%08x-%04x-7000-8000-%012x", n>>16, n&0xFFFF, uint64(n)*0x9E3779B97F4A7C15>>16)
}

// load fills a store as a server does, in commits of 32 jobs.
func fillStore(b *testing.B, jobs int) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "drover.db")
	s := open(b, path)
	hot, cold := make([]byte, 300), make([]byte, 1500)
	for at := 0; at < jobs; {
		var batch Batch
		for range 32 {
			batch.Put(jobID(at), hot)
			batch.PutCold(jobID(at), cold)
			at++
		}
		if err := s.Commit(&batch); err != nil {
			b.Fatal(err)
		}
	}
	b.Logf("%d jobs in %d MB", jobs, s.Stats().FileSize>>20)
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	return path
}

// BenchmarkCommit changes 32 jobs a commit: new jobs with their cold records ("new") or
// random ones ("changed").
func BenchmarkCommit(b *testing.B) {
	s := open(b, fillStore(b, benchJobs))
	random := rand.New(rand.NewPCG(1, 2))
	next := benchJobs
	hot, cold := make([]byte, 310), make([]byte, 1500)
	b.Run("new", func(b *testing.B) {
		measure(b, s, func(batch *Batch) {
			for range 32 {
				batch.PutCold(jobID(next), cold)
				batch.Put(jobID(next), hot)
				next++
			}
		})
	})
	b.Run("changed", func(b *testing.B) {
		measure(b, s, func(batch *Batch) {
			for range 32 {
				batch.Put(jobID(random.IntN(benchJobs)), hot)
			}
		})
	})
}

// measure commits batches. It reports times, which depend on other users of the disk, and
// the bytes of written pages, which do not.
func measure(b *testing.B, s *Store, fill func(*Batch)) {
	b.Helper()
	var took []time.Duration
	stats := s.db.Stats().TxStats
	written := stats.GetPageAlloc()
	for b.Loop() {
		var batch Batch
		fill(&batch)
		begin := time.Now()
		if err := s.Commit(&batch); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(begin))
	}
	stats = s.db.Stats().TxStats
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
	b.ReportMetric(float64((stats.GetPageAlloc()-written)/1024)/float64(len(took)), "KB/commit")
}

// BenchmarkOpenAndLoad measures a restart and its parts.
func BenchmarkOpenAndLoad(b *testing.B) {
	path := fillStore(b, benchJobs)
	var checking, opening, loading time.Duration
	n := 0
	for b.Loop() {
		begin := time.Now()
		s, err := Open(Config{Path: path, Site: "alpha"})
		if err != nil {
			b.Fatal(err)
		}
		opening += time.Since(begin)
		begin = time.Now()
		if err := s.Load(func(string, []byte) error { n++; return nil }); err != nil {
			b.Fatal(err)
		}
		loading += time.Since(begin)
		begin = time.Now()
		if err := check(s.file); err != nil {
			b.Fatal(err)
		}
		checking += time.Since(begin)
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
	if n != b.N*benchJobs {
		b.Errorf("%d records in %d runs", n, b.N)
	}
	for what, took := range map[string]time.Duration{"open": opening, "check": checking, "load": loading} {
		b.ReportMetric(float64(took.Microseconds())/float64(b.N)/1000, what+"-ms")
	}
}

// BenchmarkCommitAfterExpiry changes 32 jobs in a file of mostly free pages.
func BenchmarkCommitAfterExpiry(b *testing.B) {
	s := open(b, fillStore(b, benchJobs))
	for at := 0; at < benchJobs*9/10; at += 1000 {
		var batch Batch
		for i := range 1000 {
			batch.Delete(jobID(at + i))
		}
		if err := s.Commit(&batch); err != nil {
			b.Fatal(err)
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	hot := make([]byte, 310)
	measure(b, s, func(batch *Batch) {
		for range 32 {
			batch.Put(jobID(benchJobs-1-random.IntN(benchJobs/10)), hot)
		}
	})
}
