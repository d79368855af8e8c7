package solo

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// version is that of orders.
const version = 1

// mostOrder bounds what is read of an order, in bytes.
const mostOrder = 16 << 20

// Order is the program of one attempt.
type Order struct {
	V      int      `json:"v"`
	Args   []string `json:"args"` // Args[0] is looked up in the PATH of Env
	Env    []string `json:"env"`  // NAME=value; the batch system's own variables are added
	Dir    string   `json:"dir"`  // working directory, made if it is not there
	Stdout string   `json:"stdout"`
	Stderr string   `json:"stderr"`
	// Again is the beginning of the path of the file that a start leaves which finds that
	// the attempt was started before, or which was told to stop; "": it leaves none.
	Again string `json:"again,omitempty"`
}

// Encode returns an order as one line, without its end.
func Encode(o Order) ([]byte, error) {
	o.V = version
	text, err := json.Marshal(o)
	if err != nil {
		return nil, fmt.Errorf("order of an attempt: %w", err)
	}
	return text, nil
}

// read returns an order.
func read(input io.Reader) (Order, error) {
	text, err := io.ReadAll(io.LimitReader(input, mostOrder+1))
	if err == nil && len(text) > mostOrder {
		err = fmt.Errorf("longer than %d bytes", mostOrder)
	}
	var o Order
	if err == nil {
		o, err = parse(text)
	}
	if err != nil {
		return Order{}, fmt.Errorf("order of an attempt: %w", err)
	}
	return o, nil
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
