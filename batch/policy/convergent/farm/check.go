package farm

import "fmt"

// NeedError is a need of a job that this farm can never serve.
type NeedError struct {
	Need     string // "cpus", "license matlab", "machine"
	Asked    int64
	Accepted string
}

// Error names the need, what was asked for, and what is available.
func (e *NeedError) Error() string {
	return fmt.Sprintf("farm: job needs %s: %d, accepted: %s", e.Need, e.Asked, e.Accepted)
}

// Check returns why a job can never run on this farm, with every machine up and every
// license free: a NeedError about the first need that no machine serves, or about the
// machine if none serves all needs together. A state may hold such a job: it is eligible
// for no machine and waits.
func (s *State) Check(j *Job) error {
	var most int32
	for i := range s.Machines {
		most = max(most, s.Machines[i].CPUs)
	}
	if j.CPUs > most {
		return &NeedError{"cpus", int64(j.CPUs), fmt.Sprintf("up to %d", most)}
	}
	for _, n := range j.Licenses {
		if n.License < 0 || int(n.License) >= len(s.Licenses) {
			return &NeedError{"a license of the farm", int64(n.License), fmt.Sprintf("below %d", len(s.Licenses))}
		}
		if l := &s.Licenses[n.License]; n.Copies > l.Copies {
			return &NeedError{"license " + l.Name, int64(n.Copies), fmt.Sprintf("up to %d copies", l.Copies)}
		}
	}
	for i := range s.Machines {
		if s.Machines[i].serves(j) {
			return nil
		}
	}
	return &NeedError{"a machine with all of its CPUs, memory and licenses", 1, "none of this farm has them together"}
}

// serves reports whether the machine has the CPUs and can run the licenses.
func (m *Machine) serves(j *Job) bool {
	for _, n := range j.Licenses {
		if !m.Licenses.Has(n.License) {
			return false
		}
	}
	return m.CPUs >= j.CPUs && m.holds(j.Memory)
}

// holds reports whether the machine has the given memory, as far as that is known.
func (m *Machine) holds(memory int64) bool { return m.Memory == 0 || m.Memory >= memory }

// HasMemory reports whether a machine has the memory that a job needs, as far as that is
// known. Eligible includes it.
func (s *State) HasMemory(j *Job, machine int32) bool {
	return s.Machines[machine].holds(j.Memory)
}

// Eligible reports whether a machine meets the minimal requirements of a job now: it is
// up, no other machine holds the job, it has the CPUs and the memory, it can run the
// licenses, and enough copies exist, free or not.
func (s *State) Eligible(j *Job, machine int32) bool {
	m := &s.Machines[machine]
	if m.Down || !m.serves(j) || j.Held && j.Machine != machine {
		return false
	}
	for _, n := range j.Licenses {
		if n.Copies > s.Licenses[n.License].Copies {
			return false
		}
	}
	return true
}
