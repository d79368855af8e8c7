package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/seed-9b8f70bb/drover/client"
)

type dataCmd struct {
	Put  dataPutCmd  `cmd:"" help:"Have a file stay at a site, and print the handle that names it in requests: name=data:HANDLE."`
	Get  dataGetCmd  `cmd:"" help:"Bring data back."`
	List dataListCmd `cmd:"" help:"List the data that stay at sites."`
	Rm   dataRmCmd   `cmd:"" help:"Remove data from all sites that have them."`
}

type dataGetCmd struct {
	Data string `arg:"" name:"handle" complete:"data" help:"The handle or its beginning."`
	Path string `arg:"" help:"The file to write; - is stdout. A vector or matrix becomes one of NumPy's in a .npy."`
}

func (c *dataGetCmd) Run(a *app) error {
	grid, err := a.grid()
	if err != nil {
		return err
	}
	id, err := a.handle(grid, c.Data)
	if err != nil {
		return err
	}
	if c.Path == "-" {
		_, err := grid.GetData(a.ctx, id, a.stdout)
		return err
	}
	d, err := grid.SaveData(a.ctx, id, c.Path)
	if err != nil {
		return err
	}
	return a.printData(d, fmt.Sprintf("%s: %s from %s", c.Path, kindOfData(d), d.Site))
}

type dataListCmd struct {
	Site  string `complete:"site" help:"Only those at this site."`
	Owner string `help:"Only those of this owner."`
	Mode  string `help:"Only those of this mode: volatile, sticky or persistent."`
	Name  string `help:"Only those of this name."`
}

func (c *dataListCmd) Run(a *app) error {
	f := client.DataFilter{Owner: c.Owner, Name: c.Name, Site: c.Site}
	if c.Mode != "" {
		mode, err := client.ParseDataMode(c.Mode)
		if err != nil {
			return &usageError{message: "--" + err.Error()}
		}
		f.Mode = mode
	}
	grid, err := a.grid()
	if err != nil {
		return err
	}
	list, err := grid.ListData(a.ctx, f)
	if err != nil {
		return err
	}
	switch {
	case a.flags.JSON:
		v := dataListView{Schema: "drover.data-list/1", Data: []dataView{}, Missing: []missingView{}}
		for i := range list.Data {
			v.Data = append(v.Data, dataViewOf(&list.Data[i]))
		}
		for i := range list.Missing {
			v.Missing = append(v.Missing, *missingViewOf(&list.Missing[i]))
		}
		return writeJSON(a.stdout, v)
	case a.flags.Quiet:
		seen := make(map[string]bool)
		for i := range list.Data {
			if id := list.Data[i].ID; !seen[id] {
				seen[id] = true
				if _, err := fmt.Fprintln(a.stdout, id); err != nil {
					return err
				}
			}
		}
	default:
		t := newTable(a.stdout, table.Row{"data", "name", "kind", "mode", "owner", "site", "put", "used", "note"})
		for i := range list.Data {
			d := &list.Data[i]
			t.AppendRow(table.Row{d.ID, d.Name, kindOfData(d), d.Mode, d.Owner, d.Site, day(d.Put), day(d.Used), noteOfData(d)})
		}
		t.Render()
	}
	silent(a, list.Missing, "its data are not listed")
	return nil
}

type dataRmCmd struct {
	Data []string `arg:"" name:"handle" complete:"data" help:"Handles or their beginnings."`
}

// Run removes one after the other. What one of many meets is told, and the others go on.
func (c *dataRmCmd) Run(a *app) error {
	grid, err := a.grid()
	if err != nil {
		return err
	}
	var ids []string
	for _, text := range c.Data { // before anything is removed
		id, err := a.handle(grid, text)
		if err != nil {
			return err
		}
		ids = append(ids, id)
	}
	single := len(ids) == 1
	var first error
	for _, id := range ids {
		sites, err := grid.RemoveData(a.ctx, id)
		if err == nil && len(sites) == 0 {
			err = noData(id)
		}
		if err == nil {
			err = a.printRemoved(id, sites, single)
		}
		if err != nil && a.ctx.Err() != nil {
			return err
		}
		if err != nil && !single {
			err = exitError(report(a.process, a.flags.JSON, fmt.Errorf("data %s: %w", id, err)))
		}
		if first == nil {
			first = err
		}
	}
	return first
}

func (a *app) printRemoved(id string, sites []string, single bool) (err error) {
	switch v := (removedView{Schema: "drover.data-removed/1", ID: id, Sites: sites}); {
	case a.flags.JSON && single:
		return writeJSON(a.stdout, v)
	case a.flags.JSON:
		return writeLine(a.stdout, v)
	case a.flags.Quiet:
		_, err = fmt.Fprintln(a.stdout, id)
	default:
		_, err = fmt.Fprintf(a.stdout, "%s removed at %s\n", id, plain(strings.Join(sites, ", ")))
	}
	return err
}

// handle returns the handle that a text is, or begins.
func (a *app) handle(grid *client.Client, text string) (string, error) {
	text = strings.TrimPrefix(text, "data:")
	switch {
	case isJobID(text):
		return text, nil
	case !beginsID(text):
		return "", &usageError{message: fmt.Sprintf("data %q, accepted: a handle or its beginning", text), hint: "drover data list shows what there is"}
	}
	list, err := grid.ListData(a.ctx, client.DataFilter{ID: text})
	if err != nil {
		return "", err
	}
	d, err := list.Only(text)
	if err != nil {
		return "", err
	}
	return d.ID, nil
}

func noData(id string) error {
	return &client.Error{
		Reason: client.ReasonUnknownData, Field: "data_id", Message: fmt.Sprintf("no site has data %s", id),
		Hint: "drover data list shows what there is",
	}
}

// printData prints data: all of them as JSON, or a text.
func (a *app) printData(d *client.Data, text string) (err error) {
	switch {
	case a.flags.JSON:
		v := dataViewOf(d)
		v.Schema = "drover.data/1"
		return writeJSON(a.stdout, v)
	case a.flags.Quiet:
		_, err = fmt.Fprintln(a.stdout, d.ID)
	default:
		_, err = fmt.Fprintln(a.stdout, plain(text))
	}
	return err
}

// dataNames are the latest data, by their handles.
func dataNames(ctx context.Context, grid *client.Client) []candidate {
	found, err := grid.ListData(ctx, client.DataFilter{})
	if err != nil {
		return nil
	}
	var list []candidate
	seen := make(map[string]bool)
	for i := range found.Data {
		if d := &found.Data[i]; !seen[d.ID] {
			seen[d.ID] = true
			list = append(list, candidate{d.ID, strings.TrimSpace(fmt.Sprintf("%s %s at %s", d.Name, kindOfData(d), d.Site))})
		}
	}
	slices.SortFunc(list, func(a, b candidate) int { return cmp.Compare(b.text, a.text) })
	return list[:min(len(list), mostCompleted)]
}
