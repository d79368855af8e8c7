package main

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-9b8f70bb/drover/client"
)

// toHold returns what the client is to ask for of licenses, written NAME or NAME:COPIES.
func toHold(list []string) ([]client.Arg, error) {
	var args []client.Arg
	seen := make(map[string]bool)
	for _, text := range list {
		name, count, counted := strings.Cut(text, ":")
		copies := int64(1)
		var err error
		if counted {
			copies, err = strconv.ParseInt(count, 10, 32)
		}
		switch {
		case name == "" || err != nil || copies < 1:
			return nil, &usageError{message: fmt.Sprintf("--license %q, accepted: NAME, or NAME:N with 1..%d copies", text, math.MaxInt32)}
		case seen[name]:
			return nil, &usageError{message: fmt.Sprintf("--license %s twice, accepted: once, with its copies (%s:2)", name, name)}
		}
		seen[name] = true
		args = append(args, client.License(name, int(copies)))
	}
	return args, nil
}

// holdOver returns what a line of a file wants to hold, over what the command line says.
func holdOver(def []string, given map[string]int) []string {
	list := slices.DeleteFunc(slices.Clone(def), func(text string) bool {
		name, _, _ := strings.Cut(text, ":")
		_, instead := given[name]
		return instead
	})
	for _, name := range slices.Sorted(maps.Keys(given)) {
		list = append(list, name+":"+strconv.Itoa(given[name]))
	}
	return list
}
