package main

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/seed-9b8f70bb/drover/client"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
)

type estimateCmd struct {
	Service string `arg:"" complete:"service" help:"The service; drover services lists them."`
	request `embed:""`
	Widths  string `placeholder:"LIST" help:"The widths to ask about, as 1-8 or 1,2,4; 64 at most. Default: all that the service has, or of many the powers of two, and what each site would choose."`
}

const (
	// mostWidths bounds the widths of a menu: each is a question to every site.
	mostWidths = 64
	// fewWidths are so few that all of them are asked about.
	fewWidths = 16
)

// offer is what a site offers for a request at a width.
type offer struct {
	width int // 0 of a refusal of the width that the site would have chosen
	client.Candidate
}

// coreHours is what the job would take, by its run and not by its walltime.
func (o *offer) coreHours() float64 { return float64(o.width) * o.Run.Hours() }

func (c *estimateCmd) Run(a *app) error {
	args, err := c.arguments(c.Service, time.Now(), client.Text)
	if err != nil {
		return err
	}
	var widths []int
	switch {
	case c.Widths != "" && c.Width != nil:
		return &cmdline.UsageError{Message: "--width and --widths exclude one another"}
	case c.Widths != "":
		if widths, err = parseRange(c.Widths, mostWidths); err != nil {
			return &cmdline.UsageError{Message: "--widths " + err.Error()}
		}
		if widths[0] < 1 {
			return &cmdline.UsageError{Message: "--widths " + c.Widths + ", accepted: 1 or more"}
		}
	}
	grid, err := a.grid()
	if err != nil {
		return err
	}
	after, err := newFinder(a, grid).after(c.After)
	if err != nil {
		return err
	}
	args = append(args, afterArgs(after)...)
	menu, err := c.ask(a, grid, widths, args)
	if err != nil {
		return err
	}
	best := bestOf(menu)
	if best < 0 && c.Deadline == nil {
		if err := refusalOf(menu); err != nil {
			return err
		}
	}
	if err := showMenu(a, c.Service, menu, best); err != nil {
		return err
	}
	if best < 0 {
		return cmdline.ExitError(cmdline.ExitNoOffer)
	}
	return nil
}

// ask gathers the menu: of the widths that were named, or of those that the service has.
func (c *estimateCmd) ask(a *app, grid *client.Client, widths []int, args []client.Arg) ([]offer, error) {
	if len(widths) > 0 {
		answers, err := grid.Menu(a.ctx, c.Service, widths, args...)
		return menuOf(widths, answers), err
	}
	free, err := grid.Menu(a.ctx, c.Service, []int{0}, args...)
	if err != nil || c.Width != nil {
		return menuOf([]int{0}, free), err
	}
	about, err := grid.Service(a.ctx, c.Service)
	if err != nil || !about.Moldable {
		return menuOf([]int{0}, free), err
	}
	widths = menuWidths(about.MinWidth, about.MaxWidth)
	for _, chosen := range free[0].Candidates {
		if w := chosen.Shape.Width; chosen.Missing == nil && len(widths) < mostWidths && !slices.Contains(widths, w) {
			widths = append(widths, w)
		}
	}
	slices.Sort(widths)
	answers, err := grid.Menu(a.ctx, c.Service, widths, args...)
	return menuOf(widths, answers), err
}

// menuWidths returns the widths to ask about: all if they are few, else the powers of two
// and both ends.
func menuWidths(least, most int) []int {
	least = max(least, 1)
	var widths []int
	if most-least < fewWidths {
		for w := least; w <= most; w++ {
			widths = append(widths, w)
		}
		return widths
	}
	widths = append(widths, least)
	for w := 1; w < most; w *= 2 {
		if w > least {
			widths = append(widths, w)
		}
	}
	return append(widths, most)
}

// menuOf lists the offers by widths, then by sites.
func menuOf(widths []int, answers []*client.Decision) []offer {
	var menu []offer
	for i, d := range answers {
		for _, candidate := range d.Candidates {
			o := offer{width: widths[i], Candidate: candidate}
			if o.Missing == nil {
				o.width = o.Shape.Width
			}
			menu = append(menu, o)
		}
	}
	slices.SortStableFunc(menu, func(x, y offer) int {
		return cmp.Or(cmp.Compare(x.width, y.width), cmp.Compare(x.Site, y.Site))
	})
	return menu
}

// bestOf returns which offer is completed first; of equal ones the one that takes fewer
// core-hours, then the first. -1: there is none.
func bestOf(menu []offer) int {
	best := -1
	for i := range menu {
		o := &menu[i]
		if o.Missing != nil {
			continue
		}
		if best < 0 {
			best = i
			continue
		}
		b := &menu[best]
		if cmp.Or(cmp.Compare(o.Completion, b.Completion), cmp.Compare(time.Duration(o.width)*o.Run, time.Duration(b.width)*b.Run)) < 0 {
			best = i
		}
	}
	return best
}

// refusalOf returns why nobody would take it: the first refusal, as submit would tell it.
func refusalOf(menu []offer) error {
	for i := range menu {
		if m := menu[i].Missing; m != nil && m.Reason == "refused" && m.Detail != nil {
			return fmt.Errorf("site %s: %w", menu[i].Site, m.Detail)
		}
	}
	return nil
}

type menuView struct {
	Schema  string          `json:"schema"`
	Service string          `json:"service"`
	Best    *menuOfferView  `json:"best,omitempty"`
	Offers  []menuOfferView `json:"offers"`
}

type menuOfferView struct {
	Site        string              `json:"site"`
	Width       int                 `json:"width,omitempty"`
	Accepted    bool                `json:"accepted"`
	Walltime    float64             `json:"walltime,omitempty"`
	Wait        *float64            `json:"wait,omitempty"`
	Run         *float64            `json:"run,omitempty"`
	Completion  *float64            `json:"completion,omitempty"`
	CoreHours   *float64            `json:"core_hours,omitempty"`
	Transfer    float64             `json:"transfer,omitempty"`
	Kind        client.EstimateKind `json:"kind,omitempty"`
	Probability float64             `json:"probability,omitempty"`
	Missing     *missingView        `json:"missing,omitempty"`
}

func menuOfferViewOf(o *offer) menuOfferView {
	if o.Missing != nil {
		return menuOfferView{Site: o.Site, Width: o.width, Missing: missingViewOf(o.Site, o.Missing)}
	}
	wait, run, completion, hours := o.Wait.Seconds(), o.Run.Seconds(), o.Completion.Seconds(), o.coreHours()
	return menuOfferView{
		Site: o.Site, Width: o.width, Accepted: true, Walltime: o.Shape.Walltime.Seconds(), Wait: &wait, Run: &run, Completion: &completion,
		CoreHours: &hours, Transfer: o.Transfer.Seconds(), Kind: o.Kind, Probability: o.Probability,
	}
}

// showMenu prints all offers, and who refused which widths.
func showMenu(a *app, service string, menu []offer, best int) error {
	if a.flags.JSON {
		v := menuView{Schema: "drover.estimate/1", Service: service, Offers: []menuOfferView{}}
		for i := range menu {
			v.Offers = append(v.Offers, menuOfferViewOf(&menu[i]))
		}
		if best >= 0 {
			v.Best = &v.Offers[best]
		}
		return cmdline.WriteJSON(a.Stdout, v)
	}
	t := cmdline.NewTable(a.Stdout, table.Row{"", "width", "site", "starts in", "ends in", "ends at", "run", "walltime", "core-hours", "estimate"},
		"width", "starts in", "ends in", "run", "walltime", "core-hours")
	now := time.Now()
	for i := range menu {
		o := &menu[i]
		if o.Missing != nil {
			continue
		}
		mark := ""
		if i == best {
			mark = "*"
		}
		kind := string(o.Kind)
		if o.Kind == client.Probable {
			kind = fmt.Sprintf("%s (%.0f%%)", kind, 100*o.Probability)
		}
		t.AppendRow(table.Row{
			mark, o.width, o.Site, cmdline.Span(o.Wait), cmdline.Span(o.Completion), soon(now, o.Completion), cmdline.Span(o.Run), cmdline.Span(o.Shape.Walltime),
			fmt.Sprintf("%.3g", o.coreHours()), kind,
		})
	}
	if best >= 0 {
		t.Render()
	}
	for _, line := range refusedLines(menu) {
		_, _ = fmt.Fprintln(a.Stdout, line)
	}
	return nil
}

// refusedLines tells of each site for which widths it has no offer, and why: once for a
// reason that it gave for many.
func refusedLines(menu []offer) []string {
	type key struct{ site, reason string }
	widths := make(map[key][]int)
	why := make(map[key]string)
	var order []key
	for i := range menu {
		m := menu[i].Missing
		if m == nil {
			continue
		}
		k := key{menu[i].Site, m.Reason}
		text := m.Reason
		if m.Detail != nil {
			k.reason += " " + string(m.Detail.Reason) + " " + m.Detail.Field
			text += ": " + m.Detail.Error()
		}
		if len(widths[k]) == 0 {
			order = append(order, k)
			why[k] = text
		}
		widths[k] = append(widths[k], menu[i].width)
	}
	var lines []string
	for _, k := range order {
		of := ""
		if w := widths[k]; w[0] > 0 {
			of = fmt.Sprintf(", width %d", w[0])
			if len(w) > 1 {
				of = fmt.Sprintf(", %d widths from %d to %d", len(w), w[0], w[len(w)-1])
			}
		}
		lines = append(lines, fmt.Sprintf("%s%s: %s", k.site, of, why[k]))
	}
	return lines
}
