package server

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// drafts is the copies of the plan that rounds work on, in memory only. Each has a
// lease, which begins anew when a call on it is over. Whoever comes while another
// call works on the same copy waits for it.
type drafts struct {
	most int

	mu     sync.Mutex
	all    map[string]*draft // by round
	closed bool
}

// draft is one copy.
type draft struct {
	round string
	turn  chan struct{} // holds a token while nobody works on it
	core  *site.Draft   // nil while it is being made, and if that has failed; its user's

	// What follows belongs to drafts.mu.
	users int
	until time.Time // of the lease, while there are no users
	timer *time.Timer
}

func newDrafts(most int) *drafts { return &drafts{most: most, all: make(map[string]*draft)} }

// begin makes room for a copy, in place of one that the round may have, and takes
// it: its user makes it, and gives it back with done. The error is a
// *problem.Problem.
func (ds *drafts) begin(round string) (*draft, error) {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	switch {
	case ds.closed:
		return nil, errStopping
	case ds.most == 0:
		return nil, &problem.Problem{
			Reason: problem.NoDrafts, Message: "this site makes no copies of its plan", Hint: "limits.drafts of its configuration is 0",
		}
	case ds.all[round] == nil && len(ds.all) >= ds.most:
		return nil, &problem.Problem{
			Reason: problem.TooManyDrafts, Field: "begin", Accepted: fmt.Sprintf("at most %d rounds at a time", ds.most), Retryable: true,
			Message: fmt.Sprintf("%d rounds of reallocation have copies of the plan", len(ds.all)), Hint: "the others end, or their leases do",
		}
	}
	ds.drop(ds.all[round])
	d := &draft{round: round, turn: make(chan struct{}, 1), users: 1}
	ds.all[round] = d
	return d, nil
}

// take gives the copy of a round to the caller, who gives it back with done. The
// error is a *problem.Problem, or that of ctx.
func (ds *drafts) take(ctx context.Context, round string) (*draft, error) {
	ds.mu.Lock()
	d := ds.all[round]
	if d != nil {
		d.users++
	}
	ds.mu.Unlock()
	if d == nil {
		return nil, unknownRound(round)
	}
	select {
	case <-d.turn:
	case <-ctx.Done():
		ds.leave(d, 0)
		return nil, ctx.Err()
	}
	if d.core == nil {
		ds.done(d, 0)
		return nil, unknownRound(round)
	}
	return d, nil
}

// done gives a copy back, to be kept for a lease; with none it is thrown away.
func (ds *drafts) done(d *draft, lease time.Duration) {
	d.turn <- struct{}{}
	if lease == 0 {
		ds.mu.Lock()
		ds.drop(d)
		ds.mu.Unlock()
	}
	ds.leave(d, lease)
}

// leave says that a user is gone. The last one begins the lease, if it is not 0.
func (ds *drafts) leave(d *draft, lease time.Duration) {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	d.users--
	if lease > 0 {
		d.until = time.Now().Add(lease)
	}
	if d.users > 0 || ds.all[d.round] != d {
		return
	}
	if d.timer != nil {
		d.timer.Stop()
	}
	d.timer = time.AfterFunc(time.Until(d.until), func() { ds.expire(d) })
}

// expire throws a copy away whose lease is over, unless somebody has come.
func (ds *drafts) expire(d *draft) {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	if d.users == 0 && !time.Now().Before(d.until) {
		ds.drop(d)
	}
}

// drop forgets a copy; its users, if it has any, may go on with it. nil is none.
func (ds *drafts) drop(d *draft) {
	if d == nil || ds.all[d.round] != d {
		return
	}
	delete(ds.all, d.round)
	if d.timer != nil {
		d.timer.Stop()
	}
}

// close throws all copies away, and refuses more.
func (ds *drafts) close() {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	ds.closed = true
	for _, d := range ds.all {
		ds.drop(d)
	}
}

func unknownRound(round string) error {
	return &problem.Problem{
		Reason: problem.UnknownRound, Field: "round", Accepted: "a round that has begun here", Message: fmt.Sprintf("no draft of round %.70q", round),
		Hint: "its lease is over, or the server has been started again: begin a new round",
	}
}
