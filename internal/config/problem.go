package config

import (
	"fmt"
	"net"
	"strconv"
)

// FieldError is one problem of a configuration.
type FieldError struct {
	Key      string // "gossip.seeds[0]"
	Value    string // the given value; can be empty
	Accepted string // the accepted values; can be empty
	Message  string // replaces Value and Accepted in the text if not empty
	Line     int    // in the file; 0: a default, or not from a file
}

// Error returns the line, the key, the value and the accepted values.
func (e *FieldError) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("line %d: %s", e.Line, e.Text())
	}
	return e.Text()
}

// Text is the message without the line.
func (e *FieldError) Text() string {
	text := e.Message
	if text == "" {
		text = fmt.Sprintf("%q, accepted: %s", e.Value, e.Accepted)
	}
	if e.Key != "" {
		text = e.Key + ": " + text
	}
	return text
}

// AddressAccepted describes the addresses that Loopback accepts.
const AddressAccepted = "host:port with a port of 0..65535"

// LoopbackAccepted describes the addresses on which a process may listen.
const LoopbackAccepted = "a loopback address such as 127.0.0.1, or any with insecure: true (callers are not " +
	"authenticated)"

// Loopback reports whether host:port is on loopback. A host name other than localhost is
// not, whatever it resolves to.
func Loopback(address string) (bool, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return false, err
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return false, err
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback(), nil
}
