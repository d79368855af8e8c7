package store

import "time"

// Stats is what a store has done since it was opened.
type Stats struct {
	Commits    int64         // transactions that wrote: Commit, Expire and Probe
	Syncs      int64         // of the file
	Records    int64         // changes that were committed
	Bytes      int64         // of keys and records in them
	LastCommit time.Duration // of the last Commit that succeeded, waiting included
	FileSize   int64         // bytes now; what was deleted is used again, not given back
}

// Stats returns them.
func (s *Store) Stats() Stats {
	size := s.size()
	s.mu.Lock()
	defer s.mu.Unlock()
	stats := s.stats
	stats.FileSize = size
	return stats
}

// count counts one transaction: bbolt syncs its pages, then the header that makes
// them count, and before that the file if it had to grow.
func (s *Store) count(before int64) {
	grown := s.size() > before
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats.Commits++
	s.stats.Syncs += 2
	if grown {
		s.stats.Syncs++
	}
}

// size returns the size of the file, 0 once it is closed.
func (s *Store) size() int64 {
	info, err := s.file.Stat()
	if err != nil {
		return 0
	}
	return info.Size()
}
