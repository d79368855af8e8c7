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
	Widths  string `placeholder:"LIST" help:"Widths to ask about, as 1-8 or 1,2,4; 64 at most. Default: all widths of the service, or the powers of two if these are many, and each site's own choice."`
}

const (
	maxWidths = 64 // asked about; each is a question to every site
	fewWidths = 16 // up to here all widths of a service are asked about
)

// offer is what a site offers for the request at a width.
type offer struct {
	width int // 0 when the site has refused the width of its own choice
	*client.Candidate
}

// coreHours returns width times expected run time.
func (o *offer) coreHours() float64 { return float64(o.width) * o.Run.Hours() }

// estimateJSON is the JSON of estimate.
type estimateJSON struct {
	Best   *bestJSON           `json:"best,omitempty"` // absent when no site accepts the request
	Widths []widthEstimateJSON `json:"widths"`
}

type bestJSON struct {
	Site  string `json:"site"`
	Width int    `json:"width"`
}

type widthEstimateJSON struct {
	Width    int              `json:"width,omitempty"` // absent for each site's own choice
	Decision *client.Decision `json:"decision"`
}

func (c *estimateCmd) Run(a *app) error {
	var widths []int
	if c.Widths != "" {
		if c.Width != nil {
			return &cmdline.UsageError{Message: "--width and --widths exclude one another"}
		}
		var err error
		if widths, err = parseRange(c.Widths, maxWidths); err != nil {
			return &cmdline.UsageError{Message: "--widths " + err.Error()}
		}
		if widths[0] == 0 { // the client has 0 for the site's choice
			return &cmdline.UsageError{Message: "--widths " + c.Widths + ", accepted: 1 or more"}
		}
	}
	grid, args, err := c.prepare(a, c.Service, time.Now())
	if err != nil {
		return err
	}
	widths, answers, err := c.ask(a, grid, widths, args)
	if err != nil {
		return err
	}
	offers := offersOf(widths, answers)
	best := bestOffer(offers)
	if best < 0 && c.Deadline == nil {
		if err := firstRefusal(offers); err != nil {
			return err
		}
	}
	if a.flags.JSON {
		v := estimateJSON{}
		for i, d := range answers {
			v.Widths = append(v.Widths, widthEstimateJSON{widths[i], d})
		}
		if best >= 0 {
			v.Best = &bestJSON{offers[best].Site, offers[best].width}
		}
		err = cmdline.WriteJSON(a.Stdout, v)
	} else {
		printEstimates(a, offers, best)
	}
	if err == nil && best < 0 {
		return cmdline.ExitError(cmdline.ExitNoOffer)
	}
	return err
}

// ask asks all sites about the request at these widths; without any, at the widths of the
// service. It returns the widths, ascending (0: each site's own choice), and the answer
// for each.
func (c *estimateCmd) ask(
	a *app, grid *client.Client, widths []int, args []client.Arg,
) ([]int, []*client.Decision, error) {
	if len(widths) > 0 {
		answers, err := grid.Menu(a.ctx, c.Service, widths, args...)
		return widths, answers, err
	}
	chosen := []int{0}
	answers, err := grid.Menu(a.ctx, c.Service, chosen, args...)
	if err != nil || c.Width != nil {
		return chosen, answers, err
	}
	about, err := grid.Service(a.ctx, c.Service)
	if err != nil || !about.Moldable {
		return chosen, answers, err
	}
	widths = defaultWidths(about.MinWidth, about.MaxWidth)
	for i := range answers[0].Candidates {
		choice := &answers[0].Candidates[i]
		if w := choice.Shape.Width; choice.Missing == nil && len(widths) < maxWidths && !slices.Contains(widths, w) {
			widths = append(widths, w)
		}
	}
	slices.Sort(widths)
	answers, err = grid.Menu(a.ctx, c.Service, widths, args...)
	return widths, answers, err
}

// defaultWidths returns the widths to ask about: all if they are few, otherwise the powers
// of two and both ends.
func defaultWidths(least, most int) []int {
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

// offersOf lists the offers of all answers by width, then by site.
func offersOf(widths []int, answers []*client.Decision) []offer {
	var offers []offer
	for i, d := range answers {
		for k := range d.Candidates {
			o := offer{width: widths[i], Candidate: &d.Candidates[k]}
			if o.Missing == nil {
				o.width = o.Shape.Width
			}
			offers = append(offers, o)
		}
	}
	slices.SortStableFunc(offers, func(x, y offer) int {
		return cmp.Or(cmp.Compare(x.width, y.width), cmp.Compare(x.Site, y.Site))
	})
	return offers
}

// bestOffer returns the index of the offer that finishes first, with the fewest
// core-hours among equal ones; -1 if there is none.
func bestOffer(offers []offer) int {
	best := -1
	for i := range offers {
		o := &offers[i]
		if o.Missing != nil {
			continue
		}
		if best < 0 {
			best = i
			continue
		}
		b := &offers[best]
		work := func(o *offer) time.Duration { return time.Duration(o.width) * o.Run }
		if cmp.Or(cmp.Compare(o.Completion, b.Completion), cmp.Compare(work(o), work(b))) < 0 {
			best = i
		}
	}
	return best
}

// firstRefusal returns the first refusal as the error that submit would return.
func firstRefusal(offers []offer) error {
	for i := range offers {
		if m := offers[i].Missing; m != nil && m.Reason == "refused" && m.Detail != nil {
			return fmt.Errorf("site %s: %w", offers[i].Site, m.Detail)
		}
	}
	return nil
}

// printEstimates prints all offers, then the refusals. It marks the best offer.
func printEstimates(a *app, offers []offer, best int) {
	t := cmdline.NewTable(a.Stdout,
		table.Row{"", "width", "site", "wait", "ends in", "run", "walltime", "core-hours", "estimate"},
		"width", "wait", "ends in", "run", "walltime", "core-hours")
	for i := range offers {
		o := &offers[i]
		if o.Missing != nil {
			continue
		}
		mark := ""
		if i == best {
			mark = "*"
		}
		t.AppendRow(table.Row{
			mark, o.width, o.Site, cmdline.Span(o.Wait), cmdline.Span(o.Completion), cmdline.Span(o.Run),
			cmdline.Span(o.Shape.Walltime), fmt.Sprintf("%.3g", o.coreHours()), estimateText(o.Candidate),
		})
	}
	if best >= 0 {
		t.Render()
	}
	for _, line := range refusalLines(offers) {
		_, _ = fmt.Fprintln(a.Stdout, cmdline.Printable(line))
	}
}

// refusalLines says which widths each site has refused and why, one line per site and
// reason.
func refusalLines(offers []offer) []string {
	type key struct{ site, reason string }
	widths := make(map[key][]int)
	why := make(map[key]string)
	var order []key
	for i := range offers {
		m := offers[i].Missing
		if m == nil {
			continue
		}
		k := key{offers[i].Site, m.Reason}
		if m.Detail != nil {
			k.reason += " " + string(m.Detail.Reason) + " " + m.Detail.Field
		}
		if len(widths[k]) == 0 {
			order = append(order, k)
			why[k] = missingText(m)
		}
		widths[k] = append(widths[k], offers[i].width)
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
