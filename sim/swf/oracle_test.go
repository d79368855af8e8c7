package swf

import (
	"math/big"
	"sort"
	"strconv"
	"strings"
)

// oracle reads a workload the obvious way, line by line and field by field. Of
// a bad input it returns the line and field (0: the line as a whole).
func oracle(text string) (t *Trace, line int, field Field) {
	t = &Trace{}
	blank := func(r rune) bool { return r == ' ' || r == '\t' || r == '\r' }
	latest := int64(0)
	for number, s := range strings.Split(text, "\n") {
		trimmed := strings.TrimLeftFunc(s, blank)
		if strings.HasPrefix(trimmed, ";") {
			t.Header.Comments = append(t.Header.Comments, strings.TrimRightFunc(trimmed[1:], blank))
			continue
		}
		words := strings.FieldsFunc(s, blank)
		if len(words) == 0 {
			continue
		}
		var v values
		for i := range v {
			if i >= len(words) {
				return nil, number + 1, Field(i + 1)
			}
			n, normalized, ok := oracleNumber(words[i], &columns[i])
			if !ok {
				return nil, number + 1, Field(i + 1)
			}
			if normalized {
				t.Normalized++
			}
			v[i] = n
		}
		if len(words) > len(v) {
			return nil, number + 1, 0
		}
		j := v.job()
		if j.Submit < latest {
			t.Reordered++
		}
		latest = max(latest, j.Submit)
		t.Jobs = append(t.Jobs, j)
	}
	sort.SliceStable(t.Jobs, func(a, b int) bool { return t.Jobs[a].Submit < t.Jobs[b].Submit })
	return t, 0, 0
}

func oracleNumber(word string, c *column) (n int64, normalized, ok bool) {
	whole, decimals, point := strings.Cut(word, ".")
	digits := strings.TrimPrefix(whole, "-")
	if !onlyDigits(digits) || point && !onlyDigits(decimals) {
		return 0, false, false
	}
	if point && !c.decimals && strings.Trim(decimals, "0") != "" {
		return 0, false, false
	}
	rounded := new(big.Int)
	if n, err := strconv.ParseInt(digits, 10, 64); err == nil && !point {
		rounded.SetInt64(n)
	} else {
		amount, _ := new(big.Rat).SetString(strings.TrimPrefix(word, "-")) // digits and a point always are one
		// The whole part of amount + 1/2.
		amount.Add(amount, big.NewRat(1, 2))
		rounded.Quo(amount.Num(), amount.Denom())
	}
	if whole != digits && rounded.Sign() > 0 {
		return Unknown, rounded.Cmp(big.NewInt(1)) != 0, !c.required
	}
	if !rounded.IsUint64() || rounded.Uint64() > c.max {
		return 0, false, false
	}
	return rounded.Int64(), false, true
}

func onlyDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}
