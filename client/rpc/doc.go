// Package rpc makes the client's calls to agents and servers. It translates and
// decides nothing: package client and its core decide which call comes next.
//
//	client ── Conn.ListJobs, Conn.Submit, … ──▶ an agent or a server
//	       ◀── Message ── Decode ──▶ client.Job, client.Site, … (struct tags)
//
// A call returns a [Message]. [Message.Decode] fills a Go struct with fields that
// name the fields of the message in their tags:
//
//	type Job struct {
//		Message rpc.Message                      // the message itself, for its JSON
//		ID      string    `proto:"id"`
//		Service string    `proto:"request.service"`
//		Started time.Time `proto:"started_at"`
//	}
//
// Enums become words ("JOB_STATE_BROKEN_BY_USER" is "broken-by-user"), Durations
// and Timestamps become those of package time. The tag "." fills a nested
// struct from the same message. The tag "condition,any" fills a bool: whether
// the enum is ANY. Requests are made by the same tags, and so is the [JSON] of
// a value: the JSON that the HTTP API returns.
//
// A failed call is a [*problem.Problem] if the other side answered with one, and
// otherwise a [submission.Failure] around one, which says what the failure
// proves: whether the call may have taken effect.
package rpc
