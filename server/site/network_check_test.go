package site

import "github.com/seed-9b8f70bb/drover/batch"

// failures counts the failed attempts at all sites.
func (n *network) failures() (all int) {
	for i := range n.hosts {
		for _, outcome := range n.hosts[i].ran {
			if outcome.End == batch.EndFailed {
				all++
			}
		}
	}
	return all
}

func authority(s State) bool { return s != Absent && s != Gone && s != Incoming }

// check checks the invariants of the model. At most one site can start the job, runs it or has
// run it. Exactly one site has authority over the job, or hands it over with its whole record to
// a site that has a slot for it. The job is started once, and once more after each failure, up to
// its number of retries.
func (n *network) check() {
	live, handover := 0, 0
	for i := range n.hosts {
		h, j := &n.hosts[i], n.job(i)
		if invalid := j.invalid(); invalid != "" && j.ID != "" {
			n.Fatalf("at %s the job is %v: %s", hostNames[i], j.State, invalid)
		}
		alive := authority(j.State)
		for _, outcome := range h.ran {
			alive = alive || outcome.End != batch.EndFailed
		}
		for key := range h.asked {
			alive = alive || !h.servers[key] && !h.never[key]
		}
		if alive {
			live++
			continue
		}
		if j.State != Gone && (j.Transit == nil || j.Transit.Gone == 0) || j.Transit.Acked || !j.Kept {
			continue
		}
		for k := range n.hosts {
			if o := n.job(k); o.State == Incoming && o.Epoch == j.Transit.Gone && o.Transit.Peer == hostNames[i] &&
				j.MovedTo() == hostNames[k] {
				handover++
			}
		}
	}
	if live > 1 || live+handover != 1 || n.starts > 1+min(n.failures(), int(n.tries)) {
		for i := range n.hosts {
			j := n.job(i)
			n.Logf("%s: %v epoch %d under %d, %+v, ran %v, asked %v", hostNames[i], j.State, j.Epoch, j.Under,
				j.Transit, n.hosts[i].ran, n.hosts[i].asked)
		}
		n.Fatalf("%d sites have authority, %d hand the job over, %d starts", live, handover, n.starts)
	}
}
