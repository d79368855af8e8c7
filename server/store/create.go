package store

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"go.etcd.io/bbolt"
)

// create makes a store under a name of its own and links it to its real one when
// it is complete: a file that is found empty or half made has lost something.
// Whoever links first wins, and the others open that file.
func create(c Config) error {
	file, err := os.CreateTemp(filepath.Dir(c.Path), filepath.Base(c.Path)+".new-*")
	if err != nil {
		return err
	}
	name := file.Name()
	defer os.Remove(name) //nolint:errcheck // a name that stays does no harm, the store is what counts
	if err := layFile(file, c.Site); err != nil {
		return asRoom(c.Path, err)
	}
	if err := os.Link(name, c.Path); err != nil && !errors.Is(err, fs.ErrExist) {
		return asRoom(c.Path, err)
	}
	return syncDir(filepath.Dir(c.Path))
}

// layFile makes an empty store of an empty file, and closes it.
func layFile(file *os.File, site string) error {
	db, err := openBolt(file)
	if err != nil {
		return errors.Join(err, release(file))
	}
	err = db.Update(func(tx *bbolt.Tx) error { return lay(tx, site) })
	return errors.Join(err, db.Close())
}

// openBolt gives an open file to bbolt, which closes it with the database.
func openBolt(file *os.File) (*bbolt.DB, error) {
	o := options()
	o.OpenFile = func(string, int, os.FileMode) (*os.File, error) { return file, nil }
	db, err := bbolt.Open(file.Name(), 0, o)
	if err != nil {
		return nil, err
	}
	db.AllocSize = allocSize
	return db, nil
}

// copyFile copies what has been opened, whole or not at all.
func copyFile(from *os.File, to string) error {
	info, err := from.Stat()
	if err != nil {
		return err
	}
	dir := filepath.Dir(to)
	file, err := os.CreateTemp(dir, filepath.Base(to)+".new-*")
	if err != nil {
		return err
	}
	_, err = io.Copy(file, io.NewSectionReader(from, 0, info.Size()))
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), to)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return syncDir(dir)
}

// syncDir makes the names in a directory durable.
func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
