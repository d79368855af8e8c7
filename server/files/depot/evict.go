package depot

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// group is the handles of one content, which are evicted together.
type group struct {
	sha  string
	size int64
	rank int       // the highest rank of the handles
	used time.Time // the latest use of the handles
	all  []*Data
}

// groups returns the contents of some data, in order of eviction.
func groups(data []*Data, of func(*Data) bool) []*group {
	bySHA := make(map[string]*group)
	var all []*group
	for _, one := range data {
		if !of(one) {
			continue
		}
		g := bySHA[one.SHA256]
		if g == nil {
			g = &group{sha: one.SHA256, size: one.Size}
			bySHA[one.SHA256] = g
			all = append(all, g)
		}
		g.rank = max(g.rank, one.rank())
		if one.Used.After(g.used) {
			g.used = one.Used
		}
		g.all = append(g.all, one)
	}
	slices.SortFunc(all, func(a, b *group) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), a.used.Compare(b.used), strings.Compare(a.sha, b.sha))
	})
	return all
}

// Room returns a *QuotaError if data would not fit.
func (d *Depot) Room(data *Data) error {
	_, err := d.plan(data)
	return err
}

// makeRoom evicts data until new data fit; d.writing is held.
func (d *Depot) makeRoom(data *Data) error {
	victims, err := d.plan(data)
	if err != nil {
		return err
	}
	return d.drop(victims, Evicted, "")
}

// plan returns the data to evict for new data: first to meet the owner's quota, then the site's,
// then the limit of handles.
func (d *Depot) plan(data *Data) ([]*Data, error) {
	if d.roomy(data) {
		return nil, nil
	}
	all := d.all()
	var victims []*Data
	goes := make(map[*Data]bool)
	take := func(g *group) {
		for _, one := range g.all {
			goes[one] = true
			victims = append(victims, one)
		}
	}
	stays := func(one *Data) bool { return !goes[one] }
	if d.config.OwnerQuota > 0 {
		own := groups(all, func(one *Data) bool { return one.Owner == data.Owner })
		if fixed, ok := fit(own, data, d.config.OwnerQuota, take); !ok {
			return nil, &QuotaError{Owner: data.Owner, Need: data.Size, Quota: d.config.OwnerQuota, Fixed: fixed}
		}
	}
	if fixed, ok := fit(groups(all, stays), data, d.config.Quota, take); !ok {
		return nil, &QuotaError{All: true, Need: data.Size, Quota: d.config.Quota, Fixed: fixed}
	}
	for _, g := range groups(all, stays) {
		if len(all)-len(victims) < d.most {
			break
		}
		if g.rank < rankSticky {
			take(g)
		}
	}
	if len(all)-len(victims) >= d.most {
		return nil, &QuotaError{All: true, Handles: d.most}
	}
	return victims, nil
}

// roomy reports whether data fit, in constant time.
func (d *Depot) roomy(data *Data) bool {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.config.OwnerQuota == 0 && len(d.order) < d.most && data.Size <= d.config.Quota-d.used
}

// fit selects groups for eviction until data fit into a quota. If that is impossible it returns
// false and the bytes that cannot be freed.
func fit(all []*group, data *Data, quota int64, take func(*group)) (fixed int64, ok bool) {
	need := data.Size
	used := int64(0)
	for _, g := range all {
		used += g.size
		if g.sha == data.SHA256 {
			need = 0
		} else if g.rank == rankSticky {
			fixed += g.size
		}
	}
	if need > quota-fixed {
		return fixed, need == 0
	}
	for _, g := range all {
		if used <= quota-need {
			break
		}
		if g.rank < rankSticky && g.sha != data.SHA256 && g.size > 0 {
			take(g)
			used -= g.size
		}
	}
	return 0, true
}
