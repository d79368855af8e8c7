package rpc

import (
	"errors"
	"strings"
	"testing"

	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/server/site"
)

func FuzzReservationFilters(f *testing.F) {
	f.Add("state=active owner=ann id=x")
	f.Add("state= =x")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := reservationFilterIn(text)
		if err != nil {
			if p, is := errors.AsType[*problem.Problem](err); !is || p.Field != "filter" {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		if got == (site.ReservationFilter{}) && strings.TrimSpace(text) != "" {
			t.Errorf("%q selects all", text)
		}
	})
}
