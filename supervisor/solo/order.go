package solo

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-9b8f70bb/drover/supervisor/journal"
)

// version is that of the files written here.
const version = 1

// mostOrder bounds what is read of an order, in bytes.
const mostOrder = 16 << 20

// suffix makes the name of an order of that of its attempt's file.
const suffix = ".order"

// Order is the program of one attempt.
type Order struct {
	V      int      `json:"v"`
	Args   []string `json:"args"` // Args[0] is looked up in the PATH of Env
	Env    []string `json:"env"`  // NAME=value; the batch system's own variables are added
	Dir    string   `json:"dir"`  // working directory, made if it is not there
	Stdout string   `json:"stdout"`
	Stderr string   `json:"stderr"`
	// Again is the beginning of the path of the file that a start leaves which finds that
	// the attempt was started before; "": it leaves none.
	Again string `json:"again,omitempty"`
}

// Write writes down what an attempt is to run, in the directory of its file, and
// returns the path of the order. It may be repeated.
func Write(dir string, epoch, attempt uint32, o Order) (path string, err error) {
	o.V = version
	text, err := json.Marshal(o)
	if err != nil {
		return "", fmt.Errorf("order of an attempt: %w", err)
	}
	path = filepath.Join(dir, journal.Name(epoch, attempt)+suffix)
	// Nobody looks before it is whole, unless there was one before.
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	again := errors.Is(err, fs.ErrExist)
	if again {
		f, err = os.CreateTemp(dir, ".order-*")
	}
	if err != nil {
		return "", fmt.Errorf("order of an attempt: %w", err)
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err == nil && again {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // one left behind goes with the directory
		return "", fmt.Errorf("order of an attempt: %w", err)
	}
	return path, nil
}

// read returns an order, and the directory and the name of its attempt's file.
func read(path string) (o Order, dir, name string, err error) {
	dir, base := filepath.Split(path)
	name, ok := strings.CutSuffix(base, suffix)
	if !ok {
		return Order{}, "", "", fmt.Errorf("order %s: its name does not end in %s", path, suffix)
	}
	info, err := os.Stat(path)
	if err == nil && info.Size() > mostOrder {
		err = fmt.Errorf("%d bytes, accepted: at most %d", info.Size(), mostOrder)
	}
	var text []byte
	if err == nil {
		text, err = os.ReadFile(path)
	}
	if err == nil {
		o, err = parse(text)
	}
	if err != nil {
		return Order{}, "", "", fmt.Errorf("order %s: %w", path, err)
	}
	return o, filepath.Clean(dir), name, nil
}

func parse(text []byte) (Order, error) {
	var o Order
	if err := json.Unmarshal(text, &o); err != nil {
		return Order{}, err
	}
	switch {
	case o.V != version:
		return Order{}, fmt.Errorf("version %d, accepted: %d", o.V, version)
	case len(o.Args) == 0 || o.Args[0] == "":
		return Order{}, errors.New("args: none")
	}
	return o, nil
}
