package config

import (
	"net"
	"strconv"
)

// AddressAccepted is what Loopback takes.
const AddressAccepted = "host:port with a port of 0..65535"

// LoopbackAccepted is what a process may listen on, see insecure.
const LoopbackAccepted = "a loopback address as 127.0.0.1, or any with insecure: true (nobody is authenticated yet)"

// Loopback says whether host:port is on loopback. A host without an address of
// its own is not, whatever it may resolve to.
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
