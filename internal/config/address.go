package config

import (
	"net"
	"strconv"
)

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
