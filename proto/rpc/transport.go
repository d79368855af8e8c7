package rpc

import (
	"net"
	"net/http"
	"time"
)

// Transport returns what calls of a face go through: HTTP/2 without encryption.
// dial is how long a connection may take to be made.
func Transport(dial time.Duration) *http.Transport {
	var only http.Protocols
	only.SetUnencryptedHTTP2(true)
	return &http.Transport{
		Protocols:   &only,
		DialContext: (&net.Dialer{Timeout: dial}).DialContext,
		// A server whose host has gone must not hold a connection for ever.
		HTTP2: &http.HTTP2Config{SendPingTimeout: 10 * time.Second, PingTimeout: 5 * time.Second},
	}
}
