package main

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
)

// quietTag is the tag of the commands that can print IDs only. The others have none, or
// print what nobody wants less of: they refuse --quiet, so that it never does nothing.
const quietTag = "quiet"

// checkQuiet refuses --quiet where it would do nothing.
func checkQuiet(parsed *kong.Context) error {
	node := parsed.Selected()
	for n := node; n != nil; n = n.Parent {
		if n.Tag != nil && n.Tag.Has(quietTag) {
			return nil
		}
	}
	var quiet []string
	for _, child := range parsed.Model.Children {
		if !child.Hidden && child.Tag.Has(quietTag) {
			quiet = append(quiet, child.Name)
		}
	}
	name := ""
	if node != nil {
		name = strings.TrimPrefix(node.Path(), "drover ")
	}
	return &cmdline.UsageError{
		Message: fmt.Sprintf("--quiet with %s, which prints no IDs, accepted: with %s", name, strings.Join(quiet, ", ")),
		Hint:    "without it, or with --json",
	}
}
