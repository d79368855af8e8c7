package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/seed-9b8f70bb/drover/client"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
)

// outputs returns where --out has what comes out of a service put.
func outputs(service string, outs []string) ([]client.Arg, error) {
	var args []client.Arg
	seen := make(map[string]bool)
	for _, o := range outs {
		name, path, ok := strings.Cut(o, "=")
		switch {
		case !ok || name == "" || path == "":
			return nil, &cmdline.UsageError{
				Message: fmt.Sprintf("--out %q, accepted: NAME=PATH", o), Hint: fmt.Sprintf("drover services %s lists what comes out", service),
			}
		case seen[name]:
			return nil, &cmdline.UsageError{Message: fmt.Sprintf("--out names %s twice, accepted: once", name)}
		}
		seen[name] = true
		args = append(args, client.TextOutput(name, path))
	}
	return args, nil
}

// misfit finds the first argument that cannot be sent: a file that is not there, a
// matrix that is none.
func misfit(about *client.Service, args []string) error {
	for _, arg := range args {
		name, text, _ := strings.Cut(arg, "=")
		if err := about.Misfit(name, text); err != nil {
			return err
		}
	}
	return nil
}

// arrayText returns a list of numbers, or of such lists, as it would be typed; false
// for any other list.
func arrayText(list []any) (string, bool) {
	rows := make([]string, 0, len(list))
	for _, v := range list {
		row, ok := v.([]any)
		if !ok {
			return rowText(list)
		}
		text, ok := rowText(row)
		if !ok {
			return "", false
		}
		rows = append(rows, text)
	}
	return strings.Join(rows, ";"), len(rows) > 0
}

func rowText(list []any) (string, bool) {
	numbers := make([]string, 0, len(list))
	for _, v := range list {
		number, ok := v.(json.Number)
		if !ok {
			return "", false
		}
		numbers = append(numbers, number.String())
	}
	return strings.Join(numbers, ","), len(numbers) > 0
}

// takes says what is typed for an argument that is a file, a vector or a matrix.
func takes(a *client.Argument) string {
	switch {
	case a.Type.Array() && a.Type.Sent():
		form := "1,2,3"
		if a.Type == client.TypeMatrix || a.Type == client.TypeMatrixInout {
			form = "1,2;3,4"
		}
		return fmt.Sprintf("%sPATH.npy, or %s", sizes(a), form)
	case a.Type.Array():
		return sizes(a) + "a path to write to"
	case a.Type.Sent():
		return "a path"
	case a.Type.Written():
		return "a path to write to"
	}
	return ""
}

// sizes says of which type and dimensions an array is.
func sizes(a *client.Argument) string {
	text := string(a.Element)
	if len(a.Dimensions) > 0 {
		text += " " + strings.Join(a.Dimensions, " x ")
	}
	return text + ": "
}

// contents says what an output holds.
func contents(o client.Output) string {
	text := fmt.Sprintf("%d bytes", o.Size)
	if o.Element != "" {
		b := client.Block{Element: o.Element, Dimensions: o.Dimensions}
		text = fmt.Sprintf("%s, %s", &b, text)
	}
	return text
}
