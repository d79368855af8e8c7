package mapping

import (
	"slices"
	"strings"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Site is what an agent knows of one site.
type Site struct {
	Name     string
	Address  string     // URL of its server
	Services []string   // ascending
	Heard    batch.Time // when it last answered
	Load     Load       // as of Heard
	// Lost says that it stopped answering: it is not asked for estimates, and
	// nothing is concluded about its jobs.
	Lost bool
}

// Load is a site's queue at one instant.
type Load struct {
	Running int32 // jobs
	Waiting int32 // jobs
	Busy    int32 // processors that jobs run on
	// Draining says that it takes no new jobs, and that those that wait leave.
	Draining bool
}

// Offers says whether the site has the service.
func (s *Site) Offers(service string) bool {
	_, ok := slices.BinarySearch(s.Services, service)
	return ok
}

// View is an agent's picture of the grid. It is soft state: everything in it
// can be asked for again. The zero View knows no site.
type View struct {
	sites []*Site // by name
}

// Put adds a site or replaces the one of the same name. It sorts s.Services in
// place and keeps the slice.
func (v *View) Put(s Site) {
	slices.Sort(s.Services)
	i, found := v.find(s.Name)
	if found {
		v.sites[i] = &s
		return
	}
	v.sites = slices.Insert(v.sites, i, &s)
}

// Remove forgets a site that has left. It does nothing if there is none.
func (v *View) Remove(name string) {
	if i, found := v.find(name); found {
		v.sites = slices.Delete(v.sites, i, i+1)
	}
}

// SetLost notes whether a site stopped answering. It does nothing if there is
// none.
func (v *View) SetLost(name string, lost bool) {
	if i, found := v.find(name); found {
		s := *v.sites[i]
		s.Lost = lost
		v.sites[i] = &s
	}
}

// SetLoad notes a site's load as of now. It does nothing if there is none.
func (v *View) SetLoad(now batch.Time, name string, load Load) {
	if i, found := v.find(name); found {
		s := *v.sites[i]
		s.Heard, s.Load = now, load
		v.sites[i] = &s
	}
}

// SetHeard notes that a site has been heard of. It does nothing if there is
// none.
func (v *View) SetHeard(now batch.Time, name string) {
	if i, found := v.find(name); found {
		s := *v.sites[i]
		s.Heard = now
		v.sites[i] = &s
	}
}

// Get returns the site of a name, or nil.
func (v *View) Get(name string) *Site {
	if i, found := v.find(name); found {
		return v.sites[i]
	}
	return nil
}

// Sites appends all sites, by name. They are not changed any more: what a View
// learns later is in new ones.
func (v *View) Sites(dst []*Site) []*Site { return append(dst, v.sites...) }

// Candidates appends the sites that offer the service and are not lost, by
// name. They are not changed any more.
func (v *View) Candidates(dst []*Site, service string) []*Site {
	for _, s := range v.sites {
		if !s.Lost && s.Offers(service) {
			dst = append(dst, s)
		}
	}
	return dst
}

func (v *View) find(name string) (int, bool) {
	return slices.BinarySearchFunc(v.sites, name, func(s *Site, name string) int {
		return strings.Compare(s.Name, name)
	})
}
