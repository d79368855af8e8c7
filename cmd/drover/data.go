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
	"time"

	"github.com/seed-9b8f70bb/drover/proto/problem"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/seed-9b8f70bb/drover/client"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
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
		_, err := grid.GetData(a.ctx, id, a.Stdout)
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
			return &cmdline.UsageError{Message: "--" + err.Error()}
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
			v.Missing = append(v.Missing, *missingViewOf(list.Missing[i].Site, &list.Missing[i].Missing))
		}
		return cmdline.WriteJSON(a.Stdout, v)
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
		t := cmdline.NewTable(a.Stdout, table.Row{"data", "name", "kind", "mode", "owner", "site", "put", "used", "note"})
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
			err = cmdline.ExitError(report(a.Process, a.flags.JSON, fmt.Errorf("data %s: %w", id, err)))
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

// handle returns the handle that a text is, or begins.
func (a *app) handle(grid *client.Client, text string) (string, error) {
	text = strings.TrimPrefix(text, "data:")
	switch {
	case isJobID(text):
		return text, nil
	case !beginsID(text):
		return "", &cmdline.UsageError{Message: fmt.Sprintf("data %q, accepted: a handle or its beginning", text), Hint: "drover data list shows what there is"}
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
	return &problem.Problem{
		Reason: problem.UnknownData, Field: "data_id", Message: fmt.Sprintf("no site has data %s", id),
		Hint: "drover data list shows what there is",
	}
}

// printData prints data: all of them as JSON, or a text.
func (a *app) printData(d *client.Data, text string) (err error) {
	switch {
	case a.flags.JSON:
		v := dataViewOf(d)
		v.Schema = "drover.data/1"
		return cmdline.WriteJSON(a.Stdout, v)
	case a.flags.Quiet:
		_, err = fmt.Fprintln(a.Stdout, d.ID)
	default:
		_, err = fmt.Fprintln(a.Stdout, cmdline.Printable(text))
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

type dataPutCmd struct {
	Path  string `arg:"" help:"The file; - is stdin. One of NumPy's, .npy, becomes a vector or a matrix."`
	Site  string `complete:"site" help:"Where to; default: the site with the most free room."`
	Mode  string `enum:"volatile,sticky,persistent" default:"persistent" help:"How long they stay: until the first job that used them has ended (volatile); until they are removed, there and nowhere else (sticky); until they are removed, or the site needs the room (persistent)."`
	Name  string `help:"The file name that programs see; default: that of the file."`
	Owner string `help:"Who asks; default: USER."`
	ID    string `name:"id" help:"The handle of data whose putting was not answered, to try it again; with --site."`
}

func (c *dataPutCmd) Run(a *app) (err error) {
	if c.ID != "" && !isJobID(c.ID) {
		return &cmdline.UsageError{Message: fmt.Sprintf("--id %q, accepted: a handle, as data put prints it", c.ID)}
	}
	path, spooled, err := c.source(a.ctx, a.Stdin)
	if err != nil {
		return err
	}
	if spooled {
		defer func() { err = errors.Join(err, os.Remove(path)) }()
	}
	content, err := contentAt(path)
	if err != nil {
		return err
	}
	if c.Name == "" && spooled {
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
		_, _ = fmt.Fprintf(a.Stderr, "at %s: %s, %s\n", d.Site, kindOfData(d), d.Mode)
	}
	return a.printData(d, d.ID)
}

// source returns the file whose content is put. What can be read only once, a pipe, is
// copied to a file that is to be removed.
func (c *dataPutCmd) source(ctx context.Context, stdin io.Reader) (path string, spooled bool, err error) {
	if c.Path == "-" {
		path, err = spool(ctx, func() (io.ReadCloser, error) { return io.NopCloser(stdin), nil })
		return path, err == nil, err
	}
	info, err := os.Stat(c.Path)
	switch {
	case err != nil:
		return "", false, err
	case info.IsDir():
		return "", false, &cmdline.UsageError{Message: fmt.Sprintf("%s is a directory, accepted: a file", c.Path), Hint: "tar makes one file of it"}
	case info.Mode().IsRegular():
		return c.Path, false, nil
	}
	path, err = spool(ctx, func() (io.ReadCloser, error) { return os.Open(c.Path) })
	return path, err == nil, err
}

// contentAt returns the content of a file.
func contentAt(path string) (client.DataContent, error) {
	if strings.EqualFold(filepath.Ext(path), ".npy") {
		b, err := client.OpenNPY(path)
		return client.DataBlock(b), err
	}
	return client.DataFile(path), nil
}

// spool copies a stream to a file, which is read more than once. An interrupt ends it,
// also while nothing comes, or nobody writes to a pipe: whoever reads is left behind.
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
			_ = from.Close() // all of it was read
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

// kindOfData says for people how large data are, and what.
func kindOfData(d *client.Data) string {
	if d.Element == "" {
		return bytesOf(d.Size)
	}
	var dims []string
	for _, n := range d.Dimensions {
		dims = append(dims, fmt.Sprint(n))
	}
	return fmt.Sprintf("%s of %s, %s", strings.Join(dims, " x "), d.Element, bytesOf(d.Size))
}

// noteOfData tells what is special about data.
func noteOfData(d *client.Data) string {
	var notes []string
	if d.Copy {
		notes = append(notes, "a copy")
	}
	if d.Job != "" {
		notes = append(notes, "of job "+d.Job)
	}
	return strings.Join(notes, ", ")
}

// usageOf tells how much of a site's room for data is taken.
func usageOf(u client.DataUsage) string {
	if u.Quota == 0 {
		return "none are kept here"
	}
	text := fmt.Sprintf("%s, %s of %s", plural(u.Handles, "handle"), bytesOf(u.Used), bytesOf(u.Quota))
	if u.OwnerQuota > 0 {
		text += fmt.Sprintf(" (%s for each owner)", bytesOf(u.OwnerQuota))
	}
	if u.Evicted > 0 {
		text += fmt.Sprintf("; %d had to make room", u.Evicted)
	}
	return text
}

type dataView struct {
	Schema     string          `json:"schema,omitempty"`
	ID         string          `json:"id"`
	Name       string          `json:"name,omitempty"`
	Size       int64           `json:"size"`
	SHA256     string          `json:"sha256"`
	Element    string          `json:"element,omitempty"`
	Dimensions []int64         `json:"dimensions,omitempty"`
	Mode       client.DataMode `json:"mode"`
	Owner      string          `json:"owner,omitempty"`
	Site       string          `json:"site"`
	Copy       bool            `json:"copy,omitempty"`
	Put        *time.Time      `json:"put_at,omitempty"`
	Used       *time.Time      `json:"used_at,omitempty"`
	Job        string          `json:"job,omitempty"`
}

type dataListView struct {
	Schema  string        `json:"schema"`
	Data    []dataView    `json:"data"`
	Missing []missingView `json:"missing"`
}

type removedView struct {
	Schema string   `json:"schema"`
	ID     string   `json:"id"`
	Sites  []string `json:"sites"`
}

func dataViewOf(d *client.Data) dataView {
	return dataView{
		ID: d.ID, Name: d.Name, Size: d.Size, SHA256: d.SHA256, Element: string(d.Element), Dimensions: d.Dimensions, Mode: d.Mode,
		Owner: d.Owner, Site: d.Site, Copy: d.Copy, Put: instant(d.Put), Used: instant(d.Used), Job: d.Job,
	}
}

// dataUsageView is how much of a site's room for data is taken, bytes.
type dataUsageView struct {
	Handles    int   `json:"handles"`
	Used       int64 `json:"used"`
	Quota      int64 `json:"quota"`
	OwnerQuota int64 `json:"owner_quota,omitempty"`
	Evicted    int64 `json:"evicted,omitempty"`
}

func dataUsageViewOf(u client.DataUsage) *dataUsageView {
	if u == (client.DataUsage{}) {
		return nil
	}
	return &dataUsageView{Handles: u.Handles, Used: u.Used, Quota: u.Quota, OwnerQuota: u.OwnerQuota, Evicted: u.Evicted}
}
