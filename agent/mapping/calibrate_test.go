package mapping

import (
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
)

func TestCandidatesAreCorrectedByTheRecordOfTheirSite(t *testing.T) {
	const sec = batch.Second
	honest := Answer{Site: "honest", Wait: 100 * sec, Run: 100 * sec}
	for name, c := range map[string]struct {
		record  Record
		chosen  string
		late    batch.Duration // of the other one
		correct batch.Duration
	}{
		"starts come later":    {Record{Jobs: 10, Start: 20 * sec, Run: batch.One}, "honest", 10 * sec, 20 * sec},
		"runs are shorter":     {Record{Jobs: 10, Run: batch.One / 2}, "other", 60 * sec, -50 * sec},
		"too few jobs to tell": {Record{Jobs: 9, Start: 500 * sec, Run: batch.One}, "other", 10 * sec, 0},
		"no start before now": {
			Record{Jobs: 99, Start: -batch.Hour, Run: batch.One}, "other", 100 * sec, -90 * sec,
		},
		"another kind of job": {
			Record{Jobs: 10, Run: 1 << 30}, "honest", 90*sec + 1500*sec - 100*sec, 1500 * sec,
		},
		"without a runtime at all":  {Record{Jobs: 10}, "other", 110*sec - 100*sec/16, 100*sec/16 - 100*sec},
		"as estimated":              {Record{Jobs: 10, Run: batch.One}, "other", 10 * sec, 0},
		"earlier, but not by much":  {Record{Jobs: 10, Start: -5 * sec, Run: batch.One}, "other", 15 * sec, -5 * sec},
		"later, and runs are short": {Record{Jobs: 10, Start: 60 * sec, Run: batch.One / 2}, "honest", 0, 10 * sec},
	} {
		t.Run(name, func(t *testing.T) {
			other := Answer{Site: "other", Wait: 90 * sec, Run: 100 * sec, Record: &c.record}
			var d Decision
			Choose(0, []Answer{honest, other}, &d)
			best, _ := d.Chosen()
			if best.Site != c.chosen || d.Candidates[1].Margin != c.late {
				t.Errorf("chosen %s, the other one %v later; want %s, %v", best.Site, d.Candidates[1].Margin, c.chosen,
					c.late)
			}
			for _, got := range d.Candidates {
				if got.Completion != got.Wait+got.Run {
					t.Errorf("%+v does not add up", got)
				}
				if got.Site == "other" && got.Correction != c.correct {
					t.Errorf("correction %v, want %v", got.Correction, c.correct)
				}
			}
		})
	}
}

func TestScaleDoesNotOverflow(t *testing.T) {
	for _, c := range []struct {
		d     batch.Duration
		share batch.Share
		want  batch.Duration
	}{
		{batch.Hour, batch.One, batch.Hour},
		{batch.Hour, batch.One / 4, batch.Hour / 4},
		{3, batch.One / 2, 1},
		{batch.Forever, mostRun, batch.Forever},
	} {
		if got := scale(c.d, c.share); got != c.want {
			t.Errorf("%v by %d: %v, want %v", c.d, c.share, got, c.want)
		}
	}
}
