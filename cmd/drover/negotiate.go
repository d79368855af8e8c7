package main

import (
	"fmt"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/seed-9b8f70bb/drover/client"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
)

type offersView struct {
	Schema string      `json:"schema"`
	Chosen string      `json:"chosen,omitempty"`
	Offers []offerView `json:"offers"`
}

// offerView is what one site offers; with a refusal, what comes nearest, if anything.
type offerView struct {
	Site        string              `json:"site"`
	Accepted    bool                `json:"accepted"`
	Wait        *float64            `json:"wait,omitempty"`
	Completion  *float64            `json:"completion,omitempty"`
	Width       int                 `json:"width,omitempty"`
	Kind        client.EstimateKind `json:"kind,omitempty"`
	Probability float64             `json:"probability,omitempty"`
	Reason      string              `json:"reason,omitempty"`
	Message     string              `json:"message,omitempty"`
}

// showOffers prints what each site offers for a request.
func showOffers(a *app, d *client.Decision) error {
	v := offersView{Schema: "drover.offers/1", Chosen: d.Chosen, Offers: []offerView{}}
	t := cmdline.NewTable(a.Stdout, table.Row{"", "site", "start in", "completion in", "width", "estimate", "note"}, "start in", "completion in", "width")
	for i := range d.Candidates {
		o := offerOf(&d.Candidates[i])
		v.Offers = append(v.Offers, o)
		mark, kind, note := "", string(o.Kind), o.Message
		switch {
		case o.Site == d.Chosen:
			mark = "*"
		case !o.Accepted && o.Completion != nil:
			note = "refused: could be promised then; " + o.Message
		case !o.Accepted:
			kind, note = "-", o.Reason+": "+o.Message
		}
		if o.Kind == client.Probable {
			kind = fmt.Sprintf("%s (%.0f%%)", kind, 100*o.Probability)
		}
		t.AppendRow(table.Row{mark, o.Site, spanOf(o.Wait), spanOf(o.Completion), count(o.Width), kind, note})
	}
	if a.flags.JSON {
		if err := cmdline.WriteJSON(a.Stdout, v); err != nil {
			return err
		}
	} else {
		t.Render()
	}
	if d.Chosen == "" {
		return cmdline.ExitError(cmdline.ExitNoOffer)
	}
	return nil
}

func offerOf(c *client.Candidate) offerView {
	m := c.Missing
	if m == nil {
		wait, completion := c.Wait.Seconds(), c.Completion.Seconds()
		return offerView{
			Site: c.Site, Accepted: true, Wait: &wait, Completion: &completion, Width: c.Shape.Width, Kind: c.Kind, Probability: c.Probability,
		}
	}
	o := offerView{Site: c.Site, Reason: m.Reason}
	if m.Detail == nil {
		return o
	}
	o.Reason, o.Message = string(m.Detail.Reason), m.Detail.Error()
	if n := m.Detail.Offer; n != nil {
		wait, completion := n.Wait.Seconds(), n.Completion.Seconds()
		o.Wait, o.Completion, o.Width = &wait, &completion, int(n.Width)
	}
	return o
}
