package site

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seed-9b8f70bb/drover/proto/problem"
)

func TestLabelsAreBounded(t *testing.T) {
	many := func(n int) map[string]string {
		m := make(map[string]string)
		for i := range n {
			m[fmt.Sprint(i)] = "v"
		}
		return m
	}
	long := strings.Repeat("x", longestLabel)
	for name, c := range map[string]struct {
		labels map[string]string
		field  string // "" if they are accepted
	}{
		"as many as there may be": {many(mostLabels), ""},
		"one more":                {many(mostLabels + 1), "request.labels"},
		"without a key":           {map[string]string{"": "v"}, "request.labels"},
		"the longest key":         {map[string]string{long[:longestKey]: "v"}, ""},
		"a longer one":            {map[string]string{long[:longestKey+1]: "v"}, "request.labels"},
		"the longest value":       {map[string]string{"k": long}, ""},
		"a longer value":          {map[string]string{"k": long + "x"}, "request.labels.k"},
	} {
		err := (&Request{Service: "s", Labels: c.labels}).Validate()
		if c.field == "" && err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if c.field != "" {
			refused(t, err, problem.OutOfRange, c.field)
		}
	}
}
