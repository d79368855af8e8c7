package main

import (
	"fmt"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/seed-9b8f70bb/drover/client"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
)

type servicesCmd struct {
	Service string `arg:"" optional:"" complete:"service" help:"Show one service with its arguments."`
}

// servicesJSON is the JSON of services: a ListServicesResponse without pages.
type servicesJSON struct {
	Services []client.Service `json:"services"`
}

func (c *servicesCmd) Run(a *app) error {
	grid, err := a.grid()
	if err != nil {
		return err
	}
	services := []client.Service{}
	if c.Service != "" {
		s, err := grid.Service(a.ctx, c.Service)
		if err != nil {
			return err
		}
		services = append(services, *s)
	} else {
		all, err := grid.Services(a.ctx)
		if err != nil {
			return err
		}
		services = append(services, all...)
	}
	switch {
	case a.flags.JSON:
		return cmdline.WriteJSON(a.Stdout, servicesJSON{services})
	case a.flags.Quiet:
		for i := range services {
			_, _ = fmt.Fprintln(a.Stdout, services[i].Name)
		}
	case len(services) == 0:
		_, _ = fmt.Fprintln(a.Stderr,
			"drover: no service known yet: no site has joined, or none is up\nhint: drover sites lists the sites")
	default:
		printServices(a, services)
		if c.Service != "" {
			_, _ = fmt.Fprintln(a.Stdout)
			printArguments(a, &services[0])
		}
	}
	return nil
}

func printServices(a *app, services []client.Service) {
	t := cmdline.NewTable(a.Stdout, table.Row{"service", "widths", "sites", "description"})
	for i := range services {
		s := &services[i]
		widths := fmt.Sprintf("%d..%d", s.MinWidth, s.MaxWidth)
		if s.MinWidth == s.MaxWidth {
			widths = fmt.Sprint(s.MinWidth)
		}
		t.AppendRow(table.Row{s.Name, widths, strings.Join(s.Sites, " "), s.Doc})
	}
	t.Render()
	for i := range services {
		for _, w := range services[i].Withdrawn {
			_, _ = fmt.Fprintf(a.Stdout, "%s is withdrawn at %s: %s\n", services[i].Name, w.Site, w.Reason)
		}
	}
}

func printArguments(a *app, s *client.Service) {
	t := cmdline.NewTable(a.Stdout, table.Row{"argument", "type", "accepted", "default", "description"})
	for i := range s.Arguments {
		arg := &s.Arguments[i]
		value := arg.Default
		switch {
		case arg.Required:
			value = "(required)"
		case arg.Type.Written():
			value = "(not fetched)"
		}
		t.AppendRow(table.Row{arg.Name, arg.Type, acceptedText(arg), value, arg.Doc})
	}
	t.Render()
}

// acceptedText describes the values that an argument accepts.
func acceptedText(a *client.Argument) string {
	switch {
	case len(a.Choices) > 0:
		return strings.Join(a.Choices, ", ")
	case a.Minimum != "" || a.Maximum != "":
		return a.Minimum + ".." + a.Maximum
	case a.Type.Array() && a.Type.Sent():
		form := "1,2,3"
		if a.Type == client.TypeMatrix || a.Type == client.TypeMatrixInout {
			form = "1,2;3,4"
		}
		return fmt.Sprintf("%sPATH.npy, or %s", arrayShape(a), form)
	case a.Type.Array():
		return arrayShape(a) + "a path to write to"
	case a.Type.Sent():
		return "a path"
	case a.Type.Written():
		return "a path to write to"
	}
	return ""
}

// arrayShape describes the element type and the dimensions of an array, with a colon.
func arrayShape(a *client.Argument) string {
	text := string(a.Element)
	if len(a.Dimensions) > 0 {
		text += " " + strings.Join(a.Dimensions, " x ")
	}
	return text + ": "
}
