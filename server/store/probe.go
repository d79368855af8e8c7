package store

// probeSize is what has to fit for the store to count as writable: more than the
// pages that a commit of a group of small records rewrites.
const probeSize = 64 << 10 // bytes

var keyProbe = []byte("probe")

// Probe reports whether the store can be written now. It really writes and syncs
// probeSize bytes and removes them again, so that the next commit finds this much
// room in the file itself.
func (s *Store) Probe() error {
	if err := s.write("probing", func(to *buckets) error {
		return to.about.Put(keyProbe, make([]byte, probeSize))
	}); err != nil {
		return err
	}
	return s.write("removing what probing wrote", func(to *buckets) error {
		return to.about.Delete(keyProbe)
	})
}
