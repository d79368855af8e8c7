package catalogue

// OnOneNode says how many processors the largest node of the machine has that the
// services run on. Batch scripts that ask for one node (--nodes=1) get no more than
// those. It is to be called before anything is asked about shapes.
func (c *Catalogue) OnOneNode(processors int32) {
	for _, s := range c.services {
		if s.Script != nil && s.Script.oneNode {
			s.Script.most = processors
		}
	}
}

// within returns the widest that a service may be on a machine of most processors.
func (s *Service) within(most int32) int32 {
	if s.Script != nil && s.Script.most > 0 {
		return min(most, s.Script.most)
	}
	return most
}
