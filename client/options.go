package client

import (
	"net/http"

	"github.com/hashicorp/go-hclog"
)

// Option changes how a client works, beyond what a configuration file could say.
type Option func(*Client)

// WithTransport makes the client send its calls through t, which has to speak
// HTTP/2 without encryption. The default is a transport of the client's own.
func WithTransport(t http.RoundTripper) Option {
	return func(c *Client) { c.transport = t }
}

// WithLogger makes the client tell what it tries again, and why. The default is
// silence.
func WithLogger(log hclog.Logger) Option {
	return func(c *Client) { c.log = log }
}
