package site

import "github.com/seed-9b8f70bb/drover/batch"

// failures counts the attempts that have failed, wherever that was.
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

// check is the model's: one site at most can start the job, runs it or has run it,
// and from the beginning on one has authority over it or hands it over, with all
// that it knows, to one that holds a place for it. It is started once, and once more
// for each time that it has failed, as often as its request allows.
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
		n.Fatalf("%d sites have authority, %d hand the job over, it was started %d times", live, handover, n.starts)
	}
}
