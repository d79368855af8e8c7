package client

import "io"

// Sending makes Submit and Call tell how much of a file has been sent to a site, in
// bytes, each time some of it was read. A file may be sent again, to another site.
func Sending(see func(name string, sent, size int64)) Arg {
	return func(r *request) { r.sending = see }
}

// sent returns a file that tells how much of it has been read, if that is wanted.
func (r *request) sent(f *file) *file {
	if r.sending == nil {
		return f
	}
	told := *f
	told.open = func() (io.ReadCloser, error) {
		content, err := f.open()
		if err != nil {
			return nil, err
		}
		return &counted{ReadCloser: content, see: func(n int64) { r.sending(f.name, n, f.size) }}, nil
	}
	return &told
}

// counted tells how much has been read.
type counted struct {
	io.ReadCloser
	n   int64
	see func(n int64)
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.n += int64(n)
	c.see(c.n)
	return n, err
}
