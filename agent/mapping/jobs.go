package mapping

import (
	"cmp"
	"strings"
	"unique"

	"github.com/google/btree"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Digest is what an agent remembers about a job at a site.
type Digest struct {
	ID        string
	State     State
	Epoch     uint32
	Service   string
	Owner     string
	Shape     batch.Shape
	Submitted int64  // microseconds since 1970 on the server's clock
	Started   int64  // as Submitted; 0: not yet
	To        string // Gone only: the site that it went to
}

// JobsLimits bound an agent's memory of jobs.
type JobsLimits struct {
	Active  int            // jobs that are at a site
	Gone    int            // jobs that have left a site
	GoneFor batch.Duration // how long those are remembered
}

// Jobs is an agent's memory of jobs: for each site, the last report about every job that
// has not ended there. It stands in for a site that does not answer. Make one with
// NewJobs.
type Jobs struct {
	limits JobsLimits
	sites  map[string]*siteJobs
	active int
	gone   []goneJob // oldest first; entries of jobs that came back are stale
	left   int       // entries of gone that are not stale
}

// siteJobs is what one site has reported.
type siteJobs struct {
	byID   map[string]*known
	order  *btree.BTreeG[*known] // jobs that are not gone, in order of submission
	moving int                   // jobs in order with a move under way
	stream uint32                // counts the watches of the site
}

type known struct {
	Digest
	stream uint32 // watch that last reported it
}

type goneJob struct {
	site, id string
	epoch    uint32
	at       batch.Time
}

// NewJobs returns an empty memory.
func NewJobs(limits JobsLimits) *Jobs {
	return &Jobs{limits: limits, sites: make(map[string]*siteJobs)}
}

func submittedBefore(a, b *known) bool {
	return cmp.Or(cmp.Compare(a.Submitted, b.Submitted), strings.Compare(a.ID, b.ID)) < 0
}

// Begin starts a watch: the site will report all its jobs.
func (j *Jobs) Begin(site string) {
	s := j.sites[site]
	if s == nil {
		s = &siteJobs{byID: make(map[string]*known), order: btree.NewG(32, submittedBefore)}
		j.sites[site] = s
	}
	s.stream++
}

// Synced records that the site has reported all its jobs since Begin: the others have
// ended.
func (j *Jobs) Synced(site string) {
	s := j.sites[site]
	var ended []*known
	s.order.Ascend(func(k *known) bool {
		if k.stream != s.stream {
			ended = append(ended, k)
		}
		return true
	})
	for _, k := range ended {
		j.drop(s, k)
	}
}

// Put stores a site's report about a job, after Begin. It returns false if the memory is
// full; the job is then not remembered.
func (j *Jobs) Put(now batch.Time, site string, d Digest) bool {
	s := j.sites[site]
	j.expire(now)
	if k := s.byID[d.ID]; k != nil {
		if k.State == Gone && d.State == Gone && k.Epoch == d.Epoch {
			return true // reported again
		}
		j.drop(s, k)
	}
	if d.State.Ended() {
		return true
	}
	d.Service, d.Owner, d.To = shared(d.Service), shared(d.Owner), shared(d.To)
	k := &known{Digest: d, stream: s.stream}
	if d.State == Gone {
		s.byID[d.ID] = k
		j.left++
		j.gone = append(j.gone, goneJob{site: site, id: d.ID, epoch: d.Epoch, at: now})
		j.expire(now)
		return true
	}
	if j.active >= j.limits.Active {
		return false
	}
	s.byID[d.ID] = k
	s.order.ReplaceOrInsert(k)
	j.active++
	if isMoving(d.State) {
		s.moving++
	}
	return true
}

// drop forgets one job.
func (j *Jobs) drop(s *siteJobs, k *known) {
	delete(s.byID, k.ID)
	if k.State == Gone {
		j.left--
		return
	}
	s.order.Delete(k)
	j.active--
	if isMoving(k.State) {
		s.moving--
	}
}

// expire forgets jobs that have been gone too long, and the oldest ones if there are too
// many.
func (j *Jobs) expire(now batch.Time) {
	for len(j.gone) > 0 {
		g := j.gone[0]
		var k *known
		if s := j.sites[g.site]; s != nil {
			k = s.byID[g.id]
		}
		stale := k == nil || k.State != Gone || k.Epoch != g.epoch
		if !stale && j.left <= j.limits.Gone && now.Sub(g.at) < j.limits.GoneFor {
			return
		}
		if !stale {
			j.drop(j.sites[g.site], k)
		}
		j.gone = j.gone[1:]
	}
}

// Forget drops everything that a site has reported.
func (j *Jobs) Forget(site string) {
	s := j.sites[site]
	if s == nil {
		return
	}
	j.active -= s.order.Len()
	j.left -= len(s.byID) - s.order.Len()
	delete(j.sites, site)
}

// Get returns the site's last report about a job.
func (j *Jobs) Get(site, id string) (Digest, bool) {
	if s := j.sites[site]; s != nil {
		if k := s.byID[id]; k != nil {
			return k.Digest, true
		}
	}
	return Digest{}, false
}

// Waits reports whether, as far as is known, some site has the job and it has not started.
func (j *Jobs) Waits(id string) bool {
	for _, s := range j.sites {
		if k := s.byID[id]; k != nil && k.State != Gone && k.Started == 0 {
			return true
		}
	}
	return false
}

// Active returns the number of jobs of a site that have neither ended nor gone.
func (j *Jobs) Active(site string) int {
	if s := j.sites[site]; s != nil {
		return s.order.Len()
	}
	return 0
}

// Len returns the number of remembered jobs: those at sites, and those gone.
func (j *Jobs) Len() (active, gone int) { return j.active, j.left }

// Cursor is a position in the list of a site's jobs in order of submission. The zero
// Cursor is before all jobs.
type Cursor struct {
	Submitted int64
	ID        string
}

// After calls yield for the jobs of a site after the cursor that have neither ended nor
// gone, in order, until yield returns false.
func (j *Jobs) After(site string, at Cursor, yield func(*Digest) bool) {
	s := j.sites[site]
	if s == nil {
		return
	}
	from := &known{Digest: Digest{Submitted: at.Submitted, ID: at.ID}}
	s.order.AscendGreaterOrEqual(from, func(k *known) bool {
		if k.Submitted == at.Submitted && k.ID == at.ID {
			return true
		}
		return yield(&k.Digest)
	})
}

// movesUnderWay returns how many jobs of a site are moving to another.
func (j *Jobs) movesUnderWay(site string) int {
	if s := j.sites[site]; s != nil {
		return s.moving
	}
	return 0
}

func isMoving(s State) bool { return s == Moving || s == Yielding }

// shared returns an equal, interned string: a million jobs have few services and owners.
func shared(s string) string { return unique.Make(s).Value() }
