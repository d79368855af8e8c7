package campaign

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-9b8f70bb/drover/reallocation"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// Schema names the format of a folder: its journal and its tables.
const Schema = "drover.sim.results/1"

// identity identifies the campaign of a folder's rows: the parsed campaign file without its
// name, the texts of the scenarios, and their traces.
type identity struct {
	Schema  string  `json:"schema"`
	Columns string  `json:"columns"`
	Lists   []named `json:"lists"`
	Texts   []named `json:"scenarios"`        // the values are their digests
	Traces  []named `json:"traces,omitempty"` // by scenario: name and digest of each
}

// named is a key and its values.
type named struct {
	Key    string   `json:"key"`
	Values []string `json:"values"`
}

func (c *Campaign) identity(traces []named) identity {
	id := identity{Schema: Schema, Columns: strings.Join(Columns, ","), Traces: traces}
	days := "all"
	if c.Days > 0 {
		days = strconv.Itoa(c.Days)
	}
	id.Lists = []named{
		{"days", []string{days}},
		{"scenarios", texts(c.Scenarios, func(s Scenario) string { return s.Name })},
		{"homogeneous", texts(c.Homogeneous, strconv.FormatBool)},
		{"dedicated", texts(c.Dedicated, strconv.FormatBool)},
		{"tunings", texts(c.Tunings, site.Tuning.String)},
		{"seeds", texts(c.Seeds, func(s uint64) string { return strconv.FormatUint(s, 10) })},
		{"algorithms", texts(c.Algorithms, reallocation.Algorithm.String)},
		{"heuristics", texts(c.Heuristics, reallocation.Heuristic.String)},
		{"windows", texts(c.Windows, reallocation.Window.String)},
		{"periods", texts(c.Periods, durationText)},
		{"thresholds", texts(c.Thresholds, durationText)},
		{"patience", texts(c.Patience, reallocation.PatienceText)},
	}
	for _, s := range c.Scenarios {
		sum := sha256.Sum256(s.Text)
		id.Texts = append(id.Texts, named{s.Name, []string{hex.EncodeToString(sum[:])}})
	}
	return id
}

func texts[T any](list []T, text func(T) string) []string {
	out := make([]string, len(list))
	for i, v := range list {
		out[i] = text(v)
	}
	return out
}

// differences describes how the identity of a folder differs.
func (id *identity) differences(folder *identity) []string {
	if id.Schema != folder.Schema || id.Columns != folder.Columns {
		return []string{fmt.Sprintf("the folder was written by another version of drover (%s)", folder.Schema)}
	}
	var all []string
	for i, l := range id.Lists {
		if i >= len(folder.Lists) || l.Key != folder.Lists[i].Key {
			return append(all, "the folder names no "+l.Key)
		}
		if theirs := folder.Lists[i].Values; !slices.Equal(l.Values, theirs) {
			all = append(all, fmt.Sprintf("%s: %s in the folder, %s now", l.Key, short(theirs), short(l.Values)))
		}
	}
	all = append(all, changed(id.Texts, folder.Texts, "its text has changed")...)
	return append(all, changed(id.Traces, folder.Traces, "its traces have changed")...)
}

// changed returns the names in both lists with different values.
func changed(now, folder []named, what string) []string {
	var all []string
	for _, n := range now {
		k := slices.IndexFunc(folder, func(o named) bool { return o.Key == n.Key })
		if k >= 0 && !slices.Equal(folder[k].Values, n.Values) {
			all = append(all, fmt.Sprintf("scenario %s: %s", n.Key, what))
		}
	}
	return all
}

// short formats a list for people.
func short(list []string) string {
	const most = 12
	if len(list) <= most {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s, ... %s (%d values)", strings.Join(list[:most-2], ", "), list[len(list)-1], len(list))
}
