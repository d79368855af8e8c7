package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/hashicorp/go-hclog"
	"go.etcd.io/bbolt"
)

// Open opens the file, or makes it. It fails with a DamagedError, VersionError,
// SiteError or LockedError; a file that it refuses stays as it is. The file of an
// older version is migrated, after a copy of it was made: PATH.vN.bak.
func Open(c Config) (*Store, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if c.Logger == nil {
		c.Logger = hclog.NewNullLogger()
	}
	file, err := os.OpenFile(c.Path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		if err := create(c); err != nil {
			return nil, fmt.Errorf("making store %s: %w", c.Path, err)
		}
		file, err = os.OpenFile(c.Path, os.O_RDWR, 0)
	}
	if err != nil {
		return nil, fmt.Errorf("opening store: %w", err)
	}
	if err := lock(file, c.Path); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	if err := check(file); err != nil {
		return nil, errors.Join(asDamaged(c.Path, err), file.Close())
	}
	s := &Store{path: c.Path, logger: c.Logger, file: file}
	if err := s.open(c.Site); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// open gives the file to bbolt and brings its schema up to date.
func (s *Store) open(site string) error {
	err := s.guard(func() (err error) {
		s.db, err = openBolt(s.file)
		return err
	})
	if err != nil {
		return s.explain("opening", err)
	}
	var is found
	if err := s.view("reading about", func(tx *bbolt.Tx) (err error) {
		is, err = about(tx)
		return err
	}); err != nil {
		return asDamaged(s.path, err)
	}
	switch {
	case is.schema > version:
		return &VersionError{Path: s.path, Found: is.schema, Known: version}
	case is.site != site:
		return &SiteError{Path: s.path, Found: is.site, Want: site}
	case is.schema < version:
		return s.upgrade(is.schema)
	}
	return s.view("opening", func(tx *bbolt.Tx) error {
		if _, err := in(tx); err != nil {
			return asDamaged(s.path, err)
		}
		return nil
	})
}

// upgrade migrates the file, after copying it.
func (s *Store) upgrade(from int) error {
	backup := fmt.Sprintf("%s.v%d.bak", s.path, from)
	if err := copyFile(s.file, backup); err != nil {
		return fmt.Errorf("copying store %s before its migration: %w", s.path, err)
	}
	s.logger.Info("migrating store", "path", s.path, "from", from, "to", version, "backup", backup)
	return s.update("migrating", func(tx *bbolt.Tx) error {
		if err := migrate(tx, from); err != nil {
			return asDamaged(s.path, err)
		}
		return nil
	})
}
