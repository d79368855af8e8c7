package client

import "io"

// Sending makes Submit and Call tell how much of a file has been sent to a site, in
// bytes, each time some of it was read. A file may be sent again, to another site;
// what a site has already is not sent there, and counts at once.
func Sending(see func(name string, sent, size int64)) Arg {
	return func(r *request) { r.sending = see }
}

// progress returns who is to be told how much of a file has been sent.
func (r *request) progress(f *file) func(sent int64) {
	if r.sending == nil {
		return func(int64) {}
	}
	return func(sent int64) { r.sending(f.name, sent, f.size) }
}

// counted tells how much has been read, n bytes before it included.
type counted struct {
	io.Reader
	n   int64
	see func(n int64)
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += int64(n)
	c.see(c.n)
	return n, err
}
