package server

import (
	"net/http"
	"strconv"

	"github.com/seed-9b8f70bb/drover/server/files/depot"
)

// getData gives data that stay here, or a range of them.
func (p plain) getData(w http.ResponseWriter, r *http.Request) error {
	id := r.PathValue("id")
	if !depot.IsID(id) {
		return badHandle("id", id)
	}
	f, d, err := p.s.depot.Content(id)
	if err != nil {
		return p.s.noData("id", id, err)
	}
	defer f.Close()
	w.Header().Set("ETag", strconv.Quote(d.SHA256))
	p.serve(w, r, "application/octet-stream", f)
	return nil
}
