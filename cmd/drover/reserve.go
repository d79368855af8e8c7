package main

import (
	"fmt"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/seed-9b8f70bb/drover/client"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
)

type reserveCmd struct {
	Width    int           `placeholder:"N" required:"" help:"Processors."`
	Duration time.Duration `required:"" placeholder:"D" help:"Length of the reservation."`
	Site     string        `placeholder:"SITE" default:"any" complete:"site" help:"The site; any: the site that can start it first."`
	From     string        `placeholder:"T" help:"Exact start; with --until, the earliest start. A time from now (90m) or an instant (2026-05-01T09:00:00Z). Default: as early as possible."`
	Until    string        `placeholder:"T" help:"Latest end. The reservation starts as early as the site's plan allows."`
	Name     string        `placeholder:"NAME" help:"A name for people."`
	Owner    string        `placeholder:"NAME" help:"Owner of the reservation; default: USER."`
	ID       string        `placeholder:"ID" help:"ID of a booking that got no answer, to try it again."`
}

func (c *reserveCmd) Run(a *app) (err error) {
	now := time.Now()
	b := client.Booking{ID: c.ID, Name: c.Name, Owner: c.Owner, Width: c.Width, Duration: c.Duration}
	if c.Site != "any" {
		b.Site = c.Site
	}
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
	if !a.flags.JSON && !a.flags.Quiet {
		_, _ = fmt.Fprintf(a.Stderr, "at %s: %s from %s to %s\n", r.Site, processors(r.Width), day(r.Start), day(r.End))
	}
	return a.printReservation(r, r.ID)
}

func (a *app) printReservation(r *client.Reservation, text string) (err error) {
	switch {
	case a.flags.JSON:
		return cmdline.WriteJSON(a.Stdout, r)
	case a.flags.Quiet:
		text = r.ID
	}
	_, err = fmt.Fprintln(a.Stdout, text)
	return err
}

type reservationsCmd struct {
	All   bool   `help:"Include reservations that are over or cancelled."`
	Owner string `placeholder:"NAME" help:"Only reservations of this owner."`
	Site  string `placeholder:"SITE" complete:"site" help:"Only reservations at this site."`
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
	switch {
	case a.flags.JSON:
		return cmdline.WriteJSON(a.Stdout, list)
	case a.flags.Quiet:
		for i := range list.Reservations {
			_, _ = fmt.Fprintln(a.Stdout, list.Reservations[i].ID)
		}
	default:
		reservationTable(a, list.Reservations).Render()
	}
	warnMissing(a, list.Missing, "its reservations are not listed")
	return nil
}

func reservationTable(a *app, list []client.Reservation) *cmdline.Table {
	t := cmdline.NewTable(a.Stdout,
		table.Row{"reservation", "name", "owner", "site", "state", "width", "start", "end", "running", "waiting"},
		"width", "running", "waiting")
	t.Optional("waiting", "running", "owner", "name", "state")
	for i := range list {
		r := &list[i]
		t.AppendRow(table.Row{
			r.ID, r.Name, r.Owner, r.Site, r.State, r.Width, day(r.Start), day(r.End), r.Running, r.Waiting,
		})
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
	return a.printReservation(r, string(r.State))
}
