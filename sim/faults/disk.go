package faults

import (
	"encoding/json"
	"fmt"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// disk is what a site has on it. It outlives the server, and a write of several
// records is there whole or not at all.
type disk struct {
	pages []page // by the number of the job
}

// page is what the disk has of one job.
type page struct {
	there   bool
	record  site.Record
	text    []byte // the record as it is written, where that is tried
	dossier *site.Dossier
	until   batch.Time // of a tombstone; 0 of a record that is read at a restart
	files   bool       // uploaded, or fetched from another site
}

// record returns what is on the disk of a job; nil if there is nothing.
func (d *disk) record(f *fact) *site.Record {
	if f.n >= len(d.pages) || !d.pages[f.n].there {
		return nil
	}
	return &d.pages[f.n].record
}

// page returns the page of a job.
func (d *disk) page(f *fact) *page {
	for f.n >= len(d.pages) {
		d.pages = append(d.pages, page{})
	}
	return &d.pages[f.n]
}

// expire drops a tombstone that is old enough.
func (d *disk) expire(f *fact, now batch.Time) {
	if p := d.page(f); p.until != 0 && p.until <= now {
		*p = page{}
	}
}

// apply makes a write durable.
func (p *page) apply(w *site.Write, written bool) {
	p.there, p.record, p.until = true, w.Record, w.Until
	if w.Dossier != nil {
		p.dossier = w.Dossier
	}
	if w.Forget {
		p.dossier = nil
	}
	if written {
		var err error
		if p.text, err = json.Marshal(&w.Record); err != nil {
			panic(violation(fmt.Sprintf("a record that cannot be written: %v", err)))
		}
	}
}

// read returns the record as a restart finds it.
func (p *page) read() site.Record {
	if p.text == nil {
		return p.record
	}
	var r site.Record
	if err := json.Unmarshal(p.text, &r); err != nil {
		panic(violation(fmt.Sprintf("a record that cannot be read: %v", err)))
	}
	return r
}
