package sim

import "strconv"

// Names are the names of users and executables, which a trace has numbers for. The
// zero Names is ready for use.
type Names struct{ of map[int32]string }

// Of returns the names of a job's user and executable; "" for what its trace does not
// say.
func (n *Names) Of(j *Job) (user, application string) { return n.name(j.User), n.name(j.App) }

func (n *Names) name(number int32) string {
	if number <= 0 {
		return ""
	}
	s, ok := n.of[number]
	if !ok {
		if n.of == nil {
			n.of = map[int32]string{}
		}
		s = strconv.Itoa(int(number))
		n.of[number] = s
	}
	return s
}
