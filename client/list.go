package client

import (
	"context"
	"fmt"
	"strings"
)

// JobFilter selects jobs. The zero JobFilter selects all.
type JobFilter struct {
	State   string // a state's name, or "active" for all that are not final
	Service string
	Owner   string
	Site    string
}

// JobList is what a grid has of jobs.
type JobList struct {
	Jobs    []*Job    // site by site, in the order of submission
	Missing []Missing // the sites that did not answer
}

// Jobs lists jobs.
func (c *Client) Jobs(ctx context.Context, f JobFilter) (*JobList, error) {
	filter, err := terms("state", f.State, "service", f.Service, "owner", f.Owner, "site", f.Site)
	if err != nil {
		return nil, err
	}
	missing := make(map[string]Missing)
	jobs, err := pages(ctx, c, func(ctx context.Context, agent, token string) ([]*Job, string, error) {
		if token == "" {
			clear(missing)
		}
		return c.face.jobs(ctx, agent, filter, token, missing)
	})
	if err != nil {
		return nil, err
	}
	return &JobList{Jobs: jobs, Missing: inOrder(missing)}, nil
}

// Sites lists the sites that an agent knows, by name.
func (c *Client) Sites(ctx context.Context) ([]Site, error) {
	return pages(ctx, c, func(ctx context.Context, agent, token string) ([]Site, string, error) {
		return c.face.sites(ctx, agent, token, false)
	})
}

// Accuracy is Sites, and how the estimates of each were kept.
func (c *Client) Accuracy(ctx context.Context) ([]Site, error) {
	return pages(ctx, c, func(ctx context.Context, agent, token string) ([]Site, string, error) {
		return c.face.sites(ctx, agent, token, true)
	})
}

// Services lists the services of all sites, by name.
func (c *Client) Services(ctx context.Context) ([]Service, error) {
	return pages(ctx, c, func(ctx context.Context, agent, token string) ([]Service, string, error) {
		return c.face.services(ctx, agent, "", token)
	})
}

// Service describes one service.
func (c *Client) Service(ctx context.Context, name string) (*Service, error) {
	filter, err := terms("name", name)
	if err != nil {
		return nil, err
	}
	found, err := pages(ctx, c, func(ctx context.Context, agent, token string) ([]Service, string, error) {
		return c.face.services(ctx, agent, filter, token)
	})
	if err != nil {
		return nil, err
	}
	if name == "" || len(found) == 0 {
		return nil, notOffered(name)
	}
	return &found[0], nil
}

func notOffered(service string) *Error {
	return &Error{
		Reason: reasonUnknownService, Field: "request.service", Retryable: true,
		Message: fmt.Sprintf("no site that is up offers service %q", service), Hint: "drover services lists what the grid offers",
	}
}

// terms writes a filter of pairs of key and value, leaving out what is empty.
func terms(pairs ...string) (string, error) {
	var list []string
	for i := 0; i < len(pairs); i += 2 {
		key, value := pairs[i], pairs[i+1]
		if strings.ContainsAny(value, " \t\n") {
			return "", &Error{
				Reason: ReasonBadValue, Field: key, Accepted: "a word without spaces",
				Message: fmt.Sprintf("%s %q, accepted: a word without spaces", key, value),
			}
		}
		if value != "" {
			list = append(list, key+"="+value)
		}
	}
	return strings.Join(list, " "), nil
}
