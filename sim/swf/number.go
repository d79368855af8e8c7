package swf

import "fmt"

// number parses any field, at b[i] or after blanks, and returns where it ends.
func (p *parser) number(b []byte, i int, f Field) (n int64, end int, err error) {
	i = skipBlanks(b, i)
	if b[i] == '\n' {
		return 0, i, &ParseError{
			Line:   p.line,
			Field:  f,
			Reason: fmt.Sprintf("missing; a line has %d fields", NumFields),
		}
	}
	text := token(b, i)
	end = i + len(text)
	d, ok := scanDecimal(text)
	col := &columns[f-1]
	switch {
	case !ok:
		return 0, end, p.wrong(f, text, "not a number")
	case d.fraction && !col.decimals:
		return 0, end, p.wrong(f, text, "not a whole number")
	case d.negative && d.rounded > 0 && col.required:
		return 0, end, p.wrong(f, text, "must be known")
	case d.negative && d.rounded > 0:
		if d.rounded != 1 {
			p.normalized++
		}
		return Unknown, end, nil
	case d.rounded > col.max:
		return 0, end, p.wrong(f, text, "out of range")
	}
	return int64(d.rounded), end, nil
}

// decimal is a number as it stands in the text.
type decimal struct {
	negative bool
	rounded  uint64 // amount to the nearest whole, halves up; at most hugeAmount+1
	fraction bool   // the decimal part is not zero
}

// hugeAmount is above every limit; larger amounts are taken for it.
const hugeAmount = 1_000_000_000_000_000_000

// scanDecimal wants the whole text to be digits, with an optional minus before
// them and an optional point and more digits after them.
func scanDecimal(text []byte) (d decimal, ok bool) {
	i := 0
	if text[0] == '-' {
		d.negative = true
		i = 1
	}
	start := i
	for ; i < len(text) && isDigit(text[i]); i++ {
		d.rounded = min(10*d.rounded+uint64(text[i]-'0'), hugeAmount)
	}
	if i == start {
		return decimal{}, false
	}
	if i == len(text) {
		return d, true
	}
	if text[i] != '.' || i+1 == len(text) {
		return decimal{}, false
	}
	if text[i+1] >= '5' {
		d.rounded++
	}
	for i++; i < len(text); i++ {
		if !isDigit(text[i]) {
			return decimal{}, false
		}
		d.fraction = d.fraction || text[i] != '0'
	}
	return d, true
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
