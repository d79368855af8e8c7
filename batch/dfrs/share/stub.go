package share

import "github.com/seed-9b8f70bb/drover/batch"

type (
	program struct{}
	rising  struct{}
)

func (p *Pool) Average() []int32                          { return p.MaxMin() }
func (p *Pool) MaxStretch(period batch.Duration) []int32  { return p.MaxMin() }
func (p *Pool) MeanStretch(period batch.Duration) []int32 { return p.MaxMin() }
func (p *Pool) Bound() batch.Share                        { return p.bound }
