package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/seed-9b8f70bb/drover/client"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

type dataCmd struct {
	Put  dataPutCmd  `cmd:"" help:"Store a file at a site, and print the handle that names it in requests: name=data:HANDLE."`
	Get  dataGetCmd  `cmd:"" help:"Fetch data."`
	List dataListCmd `cmd:"" help:"List the data that sites keep."`
	Rm   dataRmCmd   `cmd:"" help:"Remove data from all sites."`
}

type dataPutCmd struct {
	Path  string `arg:"" help:"The file; - is stdin. A NumPy file (.npy) becomes a vector or a matrix."`
	Site  string `placeholder:"SITE" complete:"site" help:"The site; default: the one with the most free space for data."`
	Mode  string `enum:"volatile,sticky,persistent" default:"persistent" help:"How long the data stay: until the first job that used them has ended (volatile); until they are removed, at this site only (sticky); until they are removed, or the site needs the space (persistent)."`
	Name  string `placeholder:"NAME" help:"File name that programs see; default: the name of the file."`
	Owner string `placeholder:"NAME" help:"Owner of the data; default: USER."`
	ID    string `placeholder:"ID" name:"id" help:"Handle of a put that got no answer, to try it again; with --site."`
}

func (c *dataPutCmd) Run(a *app) (err error) {
	path, temporary, err := c.source(a.ctx, a.Stdin)
	if err != nil {
		return err
	}
	if temporary {
		defer func() { err = errors.Join(err, os.Remove(path)) }()
	}
	content, err := dataContent(path)
	if err != nil {
		return err
	}
	if c.Name == "" && temporary {
		c.Name = "stdin"
	}
	if c.Name == "" {
		c.Name = filepath.Base(path)
	}
	grid, err := a.grid()
	if err != nil {
		return err
	}
	line := &progress{app: a}
	d, err := grid.PutData(a.ctx, content, client.PutOptions{
		Site: c.Site, Mode: client.DataMode(c.Mode), Name: c.Name, Owner: c.Owner, ID: c.ID, Sending: line.sending,
	})
	line.clear()
	if err != nil {
		return err
	}
	if a.Terminal && !a.flags.JSON && !a.flags.Quiet {
		_, _ = fmt.Fprintf(a.Stderr, "at %s: %s, %s\n", d.Site, dataKind(d), d.Mode)
	}
	return a.printData(d, d.ID)
}

// source returns the file to put. A stream, which can be read only once, is first copied
// to a temporary file that the caller removes.
func (c *dataPutCmd) source(ctx context.Context, stdin io.Reader) (path string, temporary bool, err error) {
	if c.Path == "-" {
		path, err = spool(ctx, func() (io.ReadCloser, error) { return io.NopCloser(stdin), nil })
		return path, err == nil, err
	}
	info, err := os.Stat(c.Path)
	switch {
	case err != nil:
		return "", false, err
	case info.IsDir():
		return "", false, &cmdline.UsageError{
			Message: fmt.Sprintf("%s is a directory, accepted: a file", c.Path), Hint: "tar can make one file of it",
		}
	case info.Mode().IsRegular():
		return c.Path, false, nil
	}
	path, err = spool(ctx, func() (io.ReadCloser, error) { return os.Open(c.Path) })
	return path, err == nil, err
}

// dataContent returns the content of a file for the client.
func dataContent(path string) (client.DataContent, error) {
	if strings.EqualFold(filepath.Ext(path), npyEnding) {
		b, err := client.OpenNPY(path)
		return client.DataBlock(b), err
	}
	return client.DataFile(path), nil
}

// spool copies a stream to a temporary file. It returns when ctx ends, even while the
// stream blocks; the reading goroutine then stays behind.
func spool(ctx context.Context, open func() (io.ReadCloser, error)) (path string, err error) {
	f, err := os.CreateTemp("", "drover-data-*")
	if err != nil {
		return "", err
	}
	copied := make(chan error, 1)
	go func() {
		from, err := open()
		if err == nil {
			_, err = io.Copy(f, from)
			_ = from.Close() // everything has been read
		}
		copied <- err
	}()
	select {
	case err = <-copied:
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), nil
}

type dataGetCmd struct {
	Data string `arg:"" name:"handle" complete:"data" help:"The handle or its beginning."`
	Path string `arg:"" help:"The file to write; - is stdout. A vector or matrix becomes a NumPy file if the path ends in .npy."`
}

func (c *dataGetCmd) Run(a *app) error {
	grid, err := a.grid()
	if err != nil {
		return err
	}
	id, err := a.findHandle(grid, c.Data)
	if err != nil {
		return err
	}
	if c.Path == "-" {
		_, err := grid.GetData(a.ctx, id, a.Stdout)
		return err
	}
	d, err := grid.SaveData(a.ctx, id, c.Path)
	if err != nil {
		return err
	}
	return a.printData(d, fmt.Sprintf("%s: %s from %s", c.Path, dataKind(d), d.Site))
}

type dataListCmd struct {
	Site  string `placeholder:"SITE" complete:"site" help:"Only data at this site."`
	Owner string `placeholder:"NAME" help:"Only data of this owner."`
	Mode  string `enum:",volatile,sticky,persistent" default:"" help:"Only data of this mode: volatile, sticky or persistent."`
	Name  string `placeholder:"NAME" help:"Only data of this name."`
}

func (c *dataListCmd) Run(a *app) error {
	grid, err := a.grid()
	if err != nil {
		return err
	}
	f := client.DataFilter{Owner: c.Owner, Name: c.Name, Site: c.Site, Mode: client.DataMode(c.Mode)}
	list, err := grid.ListData(a.ctx, f)
	if err != nil {
		return err
	}
	switch {
	case a.flags.JSON:
		return cmdline.WriteJSON(a.Stdout, list)
	case a.flags.Quiet:
		seen := make(map[string]bool)
		for i := range list.Data {
			if id := list.Data[i].ID; !seen[id] {
				seen[id] = true
				if _, err := fmt.Fprintln(a.Stdout, id); err != nil {
					return err
				}
			}
		}
	default:
		t := cmdline.NewTable(a.Stdout, table.Row{
			"data", "name", "kind", "mode", "owner", "site", "put", "used", "note",
		})
		t.ShortIDs()
		t.Optional("put", "used", "owner", "kind")
		for i := range list.Data {
			d := &list.Data[i]
			t.AppendRow(table.Row{
				d.ID, d.Name, dataKind(d), d.Mode, d.Owner, d.Site, day(d.Put), day(d.Used), dataNote(d),
			})
		}
		t.Render()
	}
	warnMissing(a, list.Missing, "its data are not listed")
	return nil
}

type dataRmCmd struct {
	Data []string `arg:"" name:"handle" complete:"data" help:"Handles or their beginnings."`
}

// removedJSON is the JSON of data rm for one handle.
type removedJSON struct {
	ID    string   `json:"id"`
	Sites []string `json:"sites"` // that had the data
}

// Run removes the data one after the other. An error about one of several handles is
// printed, and the others continue.
func (c *dataRmCmd) Run(a *app) error {
	grid, err := a.grid()
	if err != nil {
		return err
	}
	var ids []string
	for _, text := range c.Data { // all of them before anything is removed
		id, err := a.findHandle(grid, text)
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
			err = unknownData(id)
		}
		if err == nil {
			err = a.printRemoved(id, sites, single)
		}
		if err != nil && a.ctx.Err() != nil {
			return err
		}
		if err != nil && !single {
			err = cmdline.ExitError(report(a.Process, a.flags.JSON, fmt.Errorf("data %s: %w", id, err)))
		}
		if first == nil {
			first = err
		}
	}
	return first
}

func (a *app) printRemoved(id string, sites []string, single bool) (err error) {
	switch v := (removedJSON{ID: id, Sites: sites}); {
	case a.flags.JSON && single:
		return cmdline.WriteJSON(a.Stdout, v)
	case a.flags.JSON:
		return writeLine(a.Stdout, v)
	case a.flags.Quiet:
		_, err = fmt.Fprintln(a.Stdout, id)
	default:
		_, err = fmt.Fprintf(a.Stdout, "%s removed at %s\n", id, cmdline.Printable(strings.Join(sites, ", ")))
	}
	return err
}

// findHandle returns the only handle that is text or begins with it.
func (a *app) findHandle(grid *client.Client, text string) (string, error) {
	text = strings.TrimPrefix(text, "data:")
	switch {
	case isID(text):
		return text, nil
	case !isIDPrefix(text):
		return "", &cmdline.UsageError{
			Message: fmt.Sprintf("data %q, accepted: a handle or its beginning", text),
			Hint:    "drover data list lists all data",
		}
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

func unknownData(id string) error {
	return &problem.Problem{
		Reason: problem.UnknownData, Field: "data_id", Message: fmt.Sprintf("no site has data %s", id),
		Hint: "drover data list lists all data",
	}
}

// printData prints the record of data as JSON, the handle with --quiet, or text.
func (a *app) printData(d *client.Data, text string) (err error) {
	switch {
	case a.flags.JSON:
		return cmdline.WriteJSON(a.Stdout, d)
	case a.flags.Quiet:
		_, err = fmt.Fprintln(a.Stdout, d.ID)
	default:
		_, err = fmt.Fprintln(a.Stdout, cmdline.Printable(text))
	}
	return err
}

// dataKind describes the size of data, and the shape of an array.
func dataKind(d *client.Data) string {
	if d.Element == "" {
		return bytesText(d.Size)
	}
	var dims []string
	for _, n := range d.Dimensions {
		dims = append(dims, fmt.Sprint(n))
	}
	return fmt.Sprintf("%s of %s, %s", strings.Join(dims, " x "), d.Element, bytesText(d.Size))
}

// dataNote says whether data are a copy, and which job made them.
func dataNote(d *client.Data) string {
	var notes []string
	if d.Copy {
		notes = append(notes, "a copy")
	}
	if d.Job != "" {
		notes = append(notes, "of job "+d.Job)
	}
	return strings.Join(notes, ", ")
}

// dataUsageText says how much of a site's space for data is used.
func dataUsageText(u client.DataUsage) string {
	if u.Quota == 0 {
		return "not kept here"
	}
	text := fmt.Sprintf("%s, %s of %s", plural(u.Handles, "handle"), bytesText(u.Used), bytesText(u.Quota))
	if u.OwnerQuota > 0 {
		text += fmt.Sprintf(" (%s per owner)", bytesText(u.OwnerQuota))
	}
	if u.Evicted > 0 {
		text += fmt.Sprintf("; %d evicted", u.Evicted)
	}
	return text
}

// dataCandidates returns the latest handles for completion.
func dataCandidates(ctx context.Context, grid *client.Client) []candidate {
	found, err := grid.ListData(ctx, client.DataFilter{})
	if err != nil {
		return nil
	}
	var list []candidate
	seen := make(map[string]bool)
	for i := range found.Data {
		if d := &found.Data[i]; !seen[d.ID] {
			seen[d.ID] = true
			list = append(list,
				candidate{d.ID, strings.TrimSpace(fmt.Sprintf("%s %s at %s", d.Name, dataKind(d), d.Site))})
		}
	}
	slices.SortFunc(list, func(a, b candidate) int { return cmp.Compare(b.text, a.text) })
	return list[:min(len(list), maxCompleted)]
}
