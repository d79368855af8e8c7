package roster

import "github.com/seed-9b8f70bb/drover/batch"

// carryOut pauses running jobs that the plan puts on another machine or on none, and starts
// jobs with a free machine and free licenses. A job that waits for another one to leave is
// checked again when that job has left.
func (r *Roster) carryOut(now batch.Time, out *batch.Decisions) {
	r.pending = false
	for _, h := range r.active {
		j := &r.jobs[h]
		if j.at == none || j.stranded || j.at == j.target {
			continue
		}
		r.settle(j, now)
		j.leaving, j.at, j.awaited = j.at, none, false
		if j.home = none; j.spec.Resident {
			j.home = j.leaving
		}
		out.Add(batch.Pause, h)
	}
	for _, h := range r.active {
		j := &r.jobs[h]
		if j.target == none || j.at != none {
			continue
		}
		if j.leaving != none || r.on[j.target] != batch.NoJob || !r.copies(j) {
			r.pending = true
			continue
		}
		r.begin(now, h, out)
	}
}

// copies reports whether enough copies of a job's licenses are free now.
func (r *Roster) copies(j *job) bool {
	for _, n := range j.needs {
		if r.taken[n.License]+int64(n.Copies) > int64(r.licenses[n.License].Copies) && !r.licenses[n.License].Bound {
			return false
		}
	}
	return true
}

// begin starts or resumes a job on its target.
func (r *Roster) begin(now batch.Time, h batch.Handle, out *batch.Decisions) {
	j := &r.jobs[h]
	r.take(h, j.target)
	j.since, j.before = now, j.done
	kind := batch.Start
	if j.begun {
		kind, j.awaited = batch.Resume, true
	}
	if len(j.spec.Groups) == 0 {
		out.Add(kind, h, batch.NodeAllocation{Node: j.at, Processors: j.cpus, Share: batch.One})
		return
	}
	allocation := make([]batch.NodeAllocation, 0, len(j.spec.Groups))
	for g := range j.spec.Groups {
		allocation = append(allocation, batch.NodeAllocation{
			Node: j.at, Processors: j.spec.Groups[g].Tasks, Group: int32(g), Share: batch.One,
		})
	}
	out.Add(kind, h, allocation...)
}

// take books a machine and licenses for a job.
func (r *Roster) take(h batch.Handle, machine int32) {
	j := &r.jobs[h]
	j.at, r.on[machine] = machine, h
	for _, n := range j.needs {
		r.taken[n.License] += int64(n.Copies)
	}
}

// beside returns a job that shares a machine since before the driver started, preferably one
// that stays there, or batch.NoJob.
func (r *Roster) beside(machine int32) batch.Handle {
	found := batch.NoJob
	if !r.crowded {
		return found
	}
	for i := range r.jobs {
		j := &r.jobs[i]
		if j.state == absent || j.holds() != machine {
			continue
		}
		if found == batch.NoJob || j.at == machine {
			found = batch.Handle(i)
		}
	}
	return found
}

// free releases what a job holds: the machine where it runs or that it is leaving, and its
// licenses.
func (r *Roster) free(h batch.Handle) {
	j := &r.jobs[h]
	machine := j.holds()
	if machine == none {
		return
	}
	j.at, j.leaving, j.awaited = none, none, false
	if r.on[machine] == h {
		r.on[machine] = r.beside(machine)
	}
	for _, n := range j.needs {
		r.taken[n.License] -= int64(n.Copies)
	}
}
