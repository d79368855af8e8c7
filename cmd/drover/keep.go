package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed-9b8f70bb/drover/client"
)

// toKeep returns what a request is to keep at its site, of --keep ARG[=MODE].
func toKeep(list []string) ([]client.Arg, error) {
	var args []client.Arg
	for _, k := range list {
		argument, word, _ := strings.Cut(k, "=")
		mode, err := client.ParseDataMode(word)
		if err != nil || argument == "" {
			return nil, &usageError{message: fmt.Sprintf("--keep %q, accepted: ARGUMENT, or ARGUMENT=volatile, =sticky or =persistent", k)}
		}
		args = append(args, client.Keep(argument, mode))
	}
	return args, nil
}

// keepOver returns what a line of a file wants to keep, over what the command line says.
func keepOver(def []string, given map[string]string) []string {
	list := slices.DeleteFunc(slices.Clone(def), func(k string) bool {
		argument, _, _ := strings.Cut(k, "=")
		_, instead := given[argument]
		return instead
	})
	for _, argument := range slices.Sorted(maps.Keys(given)) {
		list = append(list, argument+"="+given[argument])
	}
	return list
}

type keptView struct {
	ID   string          `json:"id"`
	Mode client.DataMode `json:"mode"`
}

func keptViewOf(kept map[string]client.Kept) map[string]keptView {
	var v map[string]keptView
	for argument, k := range kept {
		if v == nil {
			v = make(map[string]keptView)
		}
		v[argument] = keptView(k)
	}
	return v
}

// keptRows are the data that stay, for people: under which handle, and for how long.
func keptRows(j *client.Job) []string {
	var rows []string
	for _, argument := range slices.Sorted(maps.Keys(j.Kept)) {
		k := j.Kept[argument]
		rows = append(rows, fmt.Sprintf("%s as %s, %s", argument, k.ID, k.Mode))
	}
	return rows
}

// tellKept says on a terminal under which handles data stay.
func (a *app) tellKept(j *client.Job) {
	if !a.terminal || a.flags.JSON || a.flags.Quiet {
		return
	}
	for _, row := range keptRows(j) {
		_, _ = fmt.Fprintf(a.stderr, "keeps %s\n", plain(row))
	}
}
