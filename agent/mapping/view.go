package mapping

import (
	"slices"
	"strings"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Site is what an agent knows about one site.
type Site struct {
	Name     string
	Address  string     // URL of its server
	Services []string   // ascending
	Heard    batch.Time // when it last answered
	Load     Load       // as of Heard
	// Lost means that it stopped answering: it is not asked for estimates, and nothing is
	// concluded about its jobs.
	Lost bool
}

// Load is a site's queue at one instant.
type Load struct {
	Running int32 // jobs
	Waiting int32 // jobs
	Busy    int32 // processors that jobs run on
	// Draining means that it takes no new jobs, and that waiting jobs leave.
	Draining bool
	// Withdrawn are the services that it cannot launch now, by name. Their waiting jobs leave.
	Withdrawn []Withdrawal
}

// Withdrawal is a service that a site cannot launch now.
type Withdrawal struct {
	Service string
	Reason  string
}

// Empties reports whether waiting jobs leave the site.
func (l *Load) Empties() bool { return l.Draining || len(l.Withdrawn) > 0 }

// Leaves reports whether the waiting jobs of a service leave the site.
func (l *Load) Leaves(service string) bool {
	return l.Draining || l.Withdrawal(service) != nil
}

// Withdrawal returns the withdrawal of a service, or nil.
func (l *Load) Withdrawal(service string) *Withdrawal {
	for i := range l.Withdrawn {
		if l.Withdrawn[i].Service == service {
			return &l.Withdrawn[i]
		}
	}
	return nil
}

// Offers reports whether the site has the service.
func (s *Site) Offers(service string) bool {
	_, ok := slices.BinarySearch(s.Services, service)
	return ok
}

// View is what an agent knows about the grid. It is soft state: the agent can ask for all
// of it again. The zero View has no sites.
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

// Remove removes a site that has left, if it is there.
func (v *View) Remove(name string) {
	if i, found := v.find(name); found {
		v.sites = slices.Delete(v.sites, i, i+1)
	}
}

// SetLost sets whether a site has stopped answering. It does nothing for an unknown site.
func (v *View) SetLost(name string, lost bool) {
	if i, found := v.find(name); found {
		s := *v.sites[i]
		s.Lost = lost
		v.sites[i] = &s
	}
}

// SetLoad sets a site's load as of now. It does nothing for an unknown site.
func (v *View) SetLoad(now batch.Time, name string, load Load) {
	if i, found := v.find(name); found {
		s := *v.sites[i]
		s.Heard, s.Load = now, load
		v.sites[i] = &s
	}
}

// SetHeard sets when a site last answered. It does nothing for an unknown site.
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

// Sites appends all sites, by name. The appended values never change: later news replace
// them in the View.
func (v *View) Sites(dst []*Site) []*Site { return append(dst, v.sites...) }

// Candidates appends the sites that offer the service and are not lost, by name. The
// appended values never change.
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

// Link is a network path of input data.
type Link struct {
	Bandwidth int64          // bytes per second; 0: infinite
	Latency   batch.Duration // until the first byte arrives
}

// Transfer returns the transfer time of bytes: latency plus bytes over bandwidth, rounded
// up; 0 for no bytes.
func (l Link) Transfer(bytes int64) batch.Duration {
	if bytes <= 0 {
		return 0
	}
	if l.Bandwidth <= 0 {
		return l.Latency
	}
	return plus(batch.Second.Times(bytes, l.Bandwidth), l.Latency)
}

// Pair is the two ends of a link: names of sites, or "" for the clients.
type Pair struct{ From, To string }

// Links are the links of the grid.
type Links struct {
	Default Link
	Pairs   map[Pair]Link // exceptions from Default
}

// Transfer returns the transfer time of bytes between two ends; 0 within a site.
func (l *Links) Transfer(from, to string, bytes int64) batch.Duration {
	if from == to {
		return 0
	}
	if link, ok := l.Pairs[Pair{from, to}]; ok {
		return link.Transfer(bytes)
	}
	return l.Default.Transfer(bytes)
}

// Known returns the transfer time of bytes between two sites, and whether it is known:
// there are bytes to transfer, and the link is configured.
func (l *Links) Known(from, to string, bytes int64) (batch.Duration, bool) {
	_, said := l.Pairs[Pair{from, to}]
	return l.Transfer(from, to, bytes), bytes > 0 && (said || l.Default != Link{})
}

// plus returns a+b for durations that are not negative, at most Forever.
func plus(a, b batch.Duration) batch.Duration {
	if a > batch.Forever-b {
		return batch.Forever
	}
	return a + b
}

// Stored is data that stay at sites under a handle and that a request uses.
type Stored struct {
	ID     string
	Bytes  int64
	Sites  []string // sites that have them
	Sticky bool     // they must not leave their sites
}

// At reports whether a site has the data.
func (s *Stored) At(site string) bool {
	for _, name := range s.Sites {
		if name == site {
			return true
		}
	}
	return false
}

// Gather returns the time to bring the input of a request to a site: the bytes at from,
// then each of the data from its nearest site. Data that the site already has take no
// time. It returns Forever if some data are nowhere. stuck is the first of the data that
// would have to travel and must not.
func (l *Links) Gather(from, to string, bytes int64, data []Stored) (d batch.Duration, stuck *Stored) {
	d = l.Transfer(from, to, bytes)
	for i := range data {
		s := &data[i]
		if s.At(to) {
			continue
		}
		if s.Sticky && stuck == nil {
			stuck = s
		}
		d = plus(d, l.nearest(s, to))
	}
	return d, stuck
}

// nearest returns the transfer time of data to a site from the nearest site that has them.
func (l *Links) nearest(s *Stored, to string) batch.Duration {
	least := batch.Forever
	for _, from := range s.Sites {
		least = min(least, l.Transfer(from, to, s.Bytes))
	}
	return least
}
