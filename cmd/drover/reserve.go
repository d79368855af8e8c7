package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/seed-9b8f70bb/drover/client"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
)

type reserveCmd struct {
	Width    int           `required:"" help:"Processors."`
	Duration time.Duration `required:"" placeholder:"D" help:"For how long."`
	Site     string        `default:"any" complete:"site" help:"The site; any for the one that has them first."`
	From     string        `placeholder:"T" help:"When it begins, exactly; with --until, not before. A time from now, as 90m, or an instant, as 2026-05-01T09:00:00Z. Default: as early as can be."`
	Until    string        `placeholder:"T" help:"When it has ended at the latest: it begins as early as a plan allows."`
	Name     string        `help:"A word for people."`
	Owner    string        `help:"Who asks; default: USER."`
	ID       string        `help:"The ID of a booking that was not answered, to try it again."`
}

func (c *reserveCmd) Run(a *app) error {
	now := time.Now()
	b := client.Booking{ID: c.ID, Name: c.Name, Owner: c.Owner, Width: c.Width, Duration: c.Duration}
	if c.Site != "any" {
		b.Site = c.Site
	}
	switch {
	case c.Width < 1:
		return &cmdline.UsageError{Message: fmt.Sprintf("--width %d, accepted: 1 or more", c.Width)}
	case c.Duration < time.Second:
		return &cmdline.UsageError{Message: fmt.Sprintf("--duration %v, accepted: 1s or more", c.Duration)}
	}
	var err error
	if b.From, err = moment("from", c.From, now); err != nil {
		return err
	}
	if b.Until, err = moment("until", c.Until, now); err != nil {
		return err
	}
	grid, err := a.grid()
	if err != nil {
		return err
	}
	r, err := grid.Reserve(a.ctx, b)
	if err != nil {
		return err
	}
	if a.flags.JSON {
		v := reservationViewOf(r)
		v.Schema = "drover.reservation/1"
		return cmdline.WriteJSON(a.Stdout, v)
	}
	if a.flags.Quiet {
		_, err = fmt.Fprintln(a.Stdout, r.ID)
		return err
	}
	_, _ = fmt.Fprintf(a.Stderr, "at %s: %s from %s to %s\n", r.Site, processors(r.Width), day(r.Start), day(r.End))
	_, err = fmt.Fprintln(a.Stdout, r.ID)
	return err
}

// moment reads an instant, or a time from now; the zero Time for nothing.
func moment(flag, text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if d, err := cmdline.ParseDuration(text); err == nil {
		return now.Add(d), nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return t, &cmdline.UsageError{Message: fmt.Sprintf("--%s %q, accepted: a time from now, as 90m, or an instant, as 2026-05-01T09:00:00Z", flag, text)}
	}
	return t, nil
}

// day returns an instant for people, "-" for none.
func day(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Local().Format("2006-01-02 15:04:05")
}

type reservationsCmd struct {
	All   bool   `help:"Those that are over or cancelled, too."`
	Owner string `help:"Only those of this owner."`
	Site  string `complete:"site" help:"Only those at this site."`
}

func (c *reservationsCmd) Run(a *app) error {
	grid, err := a.grid()
	if err != nil {
		return err
	}
	f := client.ReservationFilter{State: "active", Owner: c.Owner, Site: c.Site}
	if c.All {
		f.State = ""
	}
	list, err := grid.Reservations(a.ctx, f)
	if err != nil {
		return err
	}
	if a.flags.JSON {
		v := reservationsView{Schema: "drover.reservations/1", Reservations: []reservationView{}, Missing: []missingView{}}
		for i := range list.Reservations {
			v.Reservations = append(v.Reservations, reservationViewOf(&list.Reservations[i]))
		}
		for i := range list.Missing {
			v.Missing = append(v.Missing, *missingViewOf(list.Missing[i].Site, &list.Missing[i].Missing))
		}
		return cmdline.WriteJSON(a.Stdout, v)
	}
	if a.flags.Quiet {
		for i := range list.Reservations {
			_, _ = fmt.Fprintln(a.Stdout, list.Reservations[i].ID)
		}
	} else {
		reservationTable(a, list.Reservations).Render()
	}
	silent(a, list.Missing, "its reservations are not listed")
	return nil
}

func reservationTable(a *app, list []client.Reservation) table.Writer {
	t := cmdline.NewTable(a.Stdout, table.Row{"reservation", "name", "owner", "site", "state", "width", "start", "end", "running", "waiting"},
		"width", "running", "waiting")
	for i := range list {
		r := &list[i]
		t.AppendRow(table.Row{r.ID, r.Name, r.Owner, r.Site, r.State, r.Width, day(r.Start), day(r.End), r.Running, r.Waiting})
	}
	return t
}

type unreserveCmd struct {
	ID string `arg:"" help:"ID of the reservation."`
}

func (c *unreserveCmd) Run(a *app) error {
	grid, err := a.grid()
	if err != nil {
		return err
	}
	r, err := grid.Unreserve(a.ctx, c.ID)
	if err != nil {
		return err
	}
	if a.flags.JSON {
		v := reservationViewOf(r)
		v.Schema = "drover.reservation/1"
		return cmdline.WriteJSON(a.Stdout, v)
	}
	if a.flags.Quiet {
		_, err = fmt.Fprintln(a.Stdout, r.ID)
		return err
	}
	_, err = fmt.Fprintln(a.Stdout, r.State)
	return err
}

type reservationsView struct {
	Schema       string            `json:"schema"`
	Reservations []reservationView `json:"reservations"`
	Missing      []missingView     `json:"missing"`
}

type reservationView struct {
	Schema    string                  `json:"schema,omitempty"`
	ID        string                  `json:"id"`
	Site      string                  `json:"site"`
	Name      string                  `json:"name,omitempty"`
	Owner     string                  `json:"owner,omitempty"`
	Width     int                     `json:"width"`
	Start     *time.Time              `json:"start"`
	End       *time.Time              `json:"end"`
	State     client.ReservationState `json:"state"`
	Booked    *time.Time              `json:"booked_at,omitempty"`
	Cancelled *time.Time              `json:"cancelled_at,omitempty"`
	Running   int                     `json:"running"`
	Waiting   int                     `json:"waiting"`
}

func reservationViewOf(r *client.Reservation) reservationView {
	return reservationView{
		ID: r.ID, Site: r.Site, Name: r.Name, Owner: r.Owner, Width: r.Width, Start: instant(r.Start), End: instant(r.End), State: r.State,
		Booked: instant(r.Booked), Cancelled: instant(r.Cancelled), Running: r.Running, Waiting: r.Waiting,
	}
}

// agreed tells what has become of an agreement, for people.
func agreed(j *client.Job) string {
	text := map[client.AgreementState]string{
		client.AgreementOpen: "open", client.AgreementKept: "kept", client.AgreementVoid: "void: the job was cancelled",
		client.AgreementBrokenByUser: "broken by the user: the job outran its estimate, or failed by itself",
		client.AgreementBrokenBySite: "broken by the site",
	}[j.Agreement]
	if t := j.Terms; t != nil {
		var more []string
		if t.Value > 0 {
			more = append(more, fmt.Sprintf("value %g", t.Value))
		}
		if t.Penalty > 0 {
			more = append(more, fmt.Sprintf("penalty %g", t.Penalty))
		}
		if t.Checkpointable {
			more = append(more, "checkpointable")
		}
		if len(more) > 0 {
			text += " (" + strings.Join(more, ", ") + ")"
		}
	}
	return text
}
