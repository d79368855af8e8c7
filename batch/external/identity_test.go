package external

import (
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Identify reads back what Name and Comment write, for any site and owner.
func FuzzIdentity(f *testing.F) {
	f.Add("site", "0190f2d4-1111-7abc-8def-000000000001", uint32(1), uint32(2), "bob")
	f.Fuzz(func(t *testing.T, site, job string, epoch, attempt uint32, owner string) {
		k := batch.Key{Job: batch.JobID(sanitize(job)), Epoch: epoch, Attempt: attempt}
		if k.Job == "" || sanitize(site) != site {
			return
		}
		if got, ok := Identify(site, Name(k), Comment(site, k, owner)); !ok || got != k {
			t.Fatalf("%v, %v", got, ok)
		}
		if got, ok := Identify(site, Name(k), ""); !ok || got != k {
			t.Fatalf("by name: %v, %v", got, ok)
		}
	})
}
