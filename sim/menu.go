package sim

import "github.com/seed-9b8f70bb/drover/batch"

// menus makes the menus of grid jobs, at speed 1.0, and keeps each as long as its
// job may be asked about: a site points to it. Their memory is used again.
type menus struct {
	types  []moldableType
	widest int32
	byJob  [][]batch.Shape
	unused [][]batch.Shape
}

func newMenus(g *Grid, jobs int) menus {
	return menus{types: g.types, widest: g.widest, byJob: make([][]batch.Shape, jobs)}
}

// take makes the menu of job i.
func (m *menus) take(i int, j *Job) []batch.Shape {
	var menu []batch.Shape
	if n := len(m.unused); n > 0 {
		menu, m.unused = m.unused[n-1][:0], m.unused[:n-1]
	}
	if j.Type == 0 {
		menu = append(menu, batch.Shape{Width: j.Width, Walltime: j.Walltime})
	} else {
		menu = m.types[j.Type-1].menu(menu, j.Walltime, j.Width, m.widest)
	}
	m.byJob[i] = menu
	return menu
}

// release takes back the menu of a job that has ended.
func (m *menus) release(i int32) {
	m.unused = append(m.unused, m.byJob[i])
	m.byJob[i] = nil
}
