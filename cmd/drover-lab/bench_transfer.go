package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/seed-9b8f70bb/drover/client"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
	"github.com/seed-9b8f70bb/drover/internal/rusage"
)

// transferSite is the configuration of the server that copies files.
const transferSite = `version: 1
name: bench
listen: 127.0.0.1:0
gossip: {bind: 127.0.0.1:0}
data_dir: %q
on_stop: end
grace: 1s
nodes: [{processors: 1}]
limits: {file: %dB, content: %dB, finished_size: %dB}
services:
  inline:
    - name: echo
      doc: Gives a file back.
      args: [{name: source, type: file}, {name: back, type: file-out}]
      command: [ln, -L, "{source}", "{back}"]
      walltime: {factor: 1, margin: 1h}
      model: {fixed: {width: 1, time: "1"}}
`

type benchTransferCmd struct {
	droverFlag

	Size  string `default:"1GiB" placeholder:"SIZE" help:"Size of the file."`
	Turns int    `default:"3" help:"How often to measure, with a new file each time; the medians count."`
	Dir   string `placeholder:"DIR" help:"Directory of the files, all on one file system. Default: that of temporary files."`
}

// The ranges of its flags.
const (
	largestTransfer = 1 << 40
	mostTurns       = 100
)

func (c *benchTransferCmd) Run(a *app) error {
	size, err := cmdline.ParseSize(c.Size)
	if err != nil || size < 1 || size > largestTransfer {
		return &cmdline.UsageError{Message: fmt.Sprintf("--size %q, accepted: 1B..1TiB", c.Size)}
	}
	if c.Turns < 1 || c.Turns > mostTurns {
		return &cmdline.UsageError{Message: fmt.Sprintf("--turns %d, accepted: 1..%d", c.Turns, mostTurns)}
	}
	dir, err := os.MkdirTemp(c.Dir, "drover-transfer-")
	if err != nil {
		return err
	}
	v, err := c.measure(a, dir, size)
	if err := errors.Join(err, os.RemoveAll(dir)); err != nil {
		return err
	}
	if a.flags.JSON {
		return cmdline.WriteJSON(a.Stdout, v)
	}
	printTransfer(a.Stdout, v)
	return nil
}

// transferView is what moving files took; rates are bytes per second.
type transferView struct {
	Schema       string    `json:"schema"`
	Size         int64     `json:"size"`
	Up           pairView  `json:"up"`
	Down         pairView  `json:"down"`
	ClientMemory int64     `json:"client_peak_bytes"`
	ServerMemory int64     `json:"server_peak_bytes"`
	Turns        []rateRow `json:"turns"`
}

type pairView struct {
	Drover float64 `json:"drover"`
	Plain  float64 `json:"plain"`
	Ratio  float64 `json:"ratio"`
}

type rateRow struct {
	DroverUp   float64 `json:"drover_up"`
	PlainUp    float64 `json:"plain_up"`
	DroverDown float64 `json:"drover_down"`
	PlainDown  float64 `json:"plain_down"`
}

func (c *benchTransferCmd) measure(a *app, dir string, size int64) (*transferView, error) {
	own, err := c.startServer(a, func(string) string {
		// The content of every turn fits: none is removed during a measurement.
		room := size * int64(c.Turns+1)
		return fmt.Sprintf(transferSite, filepath.Join(dir, "data"), size, room, 2*room+1<<20)
	})
	if err != nil {
		return nil, err
	}
	defer own.stop()
	cfg := client.Default()
	cfg.CallTimeout = time.Minute // the machine is busy with files
	drover, err := client.NewDirect(own.URL, cfg)
	if err != nil {
		return nil, err
	}
	defer drover.Close()
	plain, err := startPlain(a.ctx, dir)
	if err != nil {
		return nil, err
	}
	defer plain.stop()
	v := &transferView{Schema: "drover.bench.transfer/1", Size: size}
	for turn := range c.Turns {
		var r rateRow
		from, to := filepath.Join(dir, "from"), filepath.Join(dir, "to")
		rate := func(into *float64, f func() error) func() error {
			return func() error {
				began := time.Now()
				err := f()
				*into = float64(size) / time.Since(began).Seconds()
				return errors.Join(err, a.ctx.Err())
			}
		}
		var job *client.Job
		steps := []func() error{
			func() error { return randomFile(from, size) },
			rate(&r.PlainUp, func() error { return plain.put(from) }),
			rate(&r.PlainDown, func() error { return plain.get(to) }),
			rate(&r.DroverUp, func() (err error) {
				job, err = drover.Submit(a.ctx, "echo",
					client.File("source", from))
				return err
			}),
			func() (err error) { job, err = drover.Wait(a.ctx, job.ID); return err },
			rate(&r.DroverDown, func() error { return drover.Save(a.ctx, job.ID, "back", to) }),
		}
		if turn%2 == 1 { // the second of the two meets another state of the disk
			steps = []func() error{steps[0], steps[3], steps[4], steps[5], steps[1], steps[2]}
		}
		for _, step := range steps {
			if err := step(); err != nil {
				return nil, err
			}
		}
		v.Turns = append(v.Turns, r)
	}
	pair := func(drover, plain func(rateRow) float64) pairView {
		var d, p []float64
		for _, r := range v.Turns {
			d, p = append(d, drover(r)), append(p, plain(r))
		}
		return pairView{Drover: medianOf(d), Plain: medianOf(p), Ratio: medianOf(d) / medianOf(p)}
	}
	v.Up = pair(func(r rateRow) float64 { return r.DroverUp }, func(r rateRow) float64 { return r.PlainUp })
	v.Down = pair(func(r rateRow) float64 { return r.DroverDown }, func(r rateRow) float64 { return r.PlainDown })
	v.ClientMemory, v.ServerMemory = rusage.PeakMemory(), rusage.PeakOf(own.PID())
	return v, nil
}

// medianOf returns the middle one, or the mean of the two in the middle.
func medianOf(of []float64) float64 {
	of = slices.Sorted(slices.Values(of))
	return (of[(len(of)-1)/2] + of[len(of)/2]) / 2
}

// randomFile makes a file that has never been sent, and has it on disk.
func randomFile(name string, size int64) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	_, err = io.CopyN(f, rand.Reader, size)
	return errors.Join(err, f.Sync(), f.Close())
}

// plainServer takes one file and gives it back, as net/http does it.
type plainServer struct {
	ctx  context.Context
	url  string
	name string
	stop func()
}

func startPlain(ctx context.Context, dir string) (*plainServer, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &plainServer{ctx: ctx, url: "http://" + l.Addr().String() + "/", name: filepath.Join(dir, "plain")}
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter,
		r *http.Request,
	) {
		if r.Method == http.MethodGet {
			http.ServeFile(w, r, p.name)
			return
		}
		if err := writeFile(p.name, r.Body); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	})}
	done := make(chan struct{})
	go func() { defer close(done); _ = server.Serve(l) }()
	p.stop = func() { _ = server.Close(); <-done }
	return p, nil
}

// writeFile puts what r gives on disk.
func writeFile(name string, r io.Reader) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, r)
	return errors.Join(err, f.Sync(), f.Close())
}

func (p *plainServer) put(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	return p.call(http.MethodPut, f, func(io.Reader) error { return nil })
}

func (p *plainServer) get(name string) error {
	return p.call(http.MethodGet, nil, func(r io.Reader) error {
		f, err := os.Create(name)
		if err != nil {
			return err
		}
		_, err = io.Copy(f, r)
		return errors.Join(err, f.Close())
	})
}

func (p *plainServer) call(method string, body io.Reader, take func(io.Reader) error) error {
	req, err := http.NewRequestWithContext(p.ctx, method, p.url, body)
	if err != nil {
		return err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("plain HTTP: %s", res.Status)
	}
	return take(res.Body)
}

func printTransfer(w io.Writer, v *transferView) {
	t := cmdline.NewTable(w, nil)
	row := func(name, format string, args ...any) { t.AppendRow(table.Row{name, fmt.Sprintf(format, args...)}) }
	mib := func(bytes float64) string { return fmt.Sprintf("%.0f MiB", bytes/(1<<20)) }
	pair := func(name string, p pairView) {
		row(name, "%s/s, plain HTTP %s/s, ratio %.2f", mib(p.Drover), mib(p.Plain), p.Ratio)
	}
	row("file", "%s, %d times", mib(float64(v.Size)), len(v.Turns))
	pair("to the site", v.Up)
	pair("back", v.Down)
	row("peak memory", "client %s, server %s", mib(float64(v.ClientMemory)), mib(float64(v.ServerMemory)))
	t.Render()
}
