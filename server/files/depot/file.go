package depot

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// suffix ends the name of a record's file, arriving that of a file being written.
const (
	suffix   = ".json"
	arriving = ".new-*"
	// largest is the maximal size of a record's file, in bytes.
	largest = 1 << 16
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// encode writes a record: a line with its checksum, and a line of JSON.
func encode(v any) ([]byte, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return fmt.Appendf(nil, "%08x\n%s\n", crc32.Checksum(text, castagnoli), text), nil
}

// decode is the inverse of encode.
func decode(data []byte, v any) error {
	sum, text, ok := bytes.Cut(data, []byte("\n"))
	text, ended := bytes.CutSuffix(text, []byte("\n"))
	if !ok || !ended {
		return errors.New("it is truncated")
	}
	if want := fmt.Sprintf("%08x", crc32.Checksum(text, castagnoli)); want != string(sum) {
		return fmt.Errorf("checksum %.8q, expected %q", sum, want)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("unexpected data after the record")
	}
	return nil
}

// write replaces a file's content durably, except for the directory entry. On failure the old
// content stays.
func write(name string, v any) error {
	text, err := encode(v)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(name), arriving)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // fails if the file was renamed
	}
	return err
}

// read is the inverse of write.
func read(name string, v any) (os.FileInfo, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(f, largest))
	if err != nil {
		return nil, err
	}
	return info, decode(text, v)
}

// names lists the records in a directory, which it creates if missing. It removes incomplete files.
func names(dir string) ([]string, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, e := range entries {
		if half, _ := filepath.Match(arriving, e.Name()); half {
			if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
				return nil, err
			}
			continue
		}
		out = append(out, e.Name())
	}
	return out, nil
}

// idOf returns the handle of a record's file.
func idOf(name string) (string, error) {
	id, ok := strings.CutSuffix(name, suffix)
	if !ok || !IsID(id) {
		return "", errors.New("not the name of a record")
	}
	return id, nil
}

// syncDir makes the entries of a directory durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
