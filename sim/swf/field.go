package swf

import (
	"fmt"
	"math"
)

// Limits of the format in this package. They are far above any real log. They bound the
// resources that a damaged or hostile log can use, and leave users of the values a margin for
// sums and products.
const (
	MaxLineBytes    = 64 << 10              // of one line, comments too
	MaxCommentBytes = 16 << 20              // of all comments together
	MaxJobs         = 100_000_000           // jobs in a trace
	MaxID           = 1_000_000_000_000_000 // job number
	MaxSeconds      = 10_000_000_000        // any time: 317 years
	MaxProcs        = 1_000_000_000         // processors of one job
	MaxKB           = 1_000_000_000_000_000 // memory per processor: an exabyte
	MaxIndex        = math.MaxInt32         // user, group, application, queue, partition
	MaxStatus       = math.MaxInt8          // 0 to 5 have a meaning
)

// Field numbers the 18 columns of a line from 1, as the standard does.
type Field int

// The columns of a line.
const (
	FieldID Field = iota + 1
	FieldSubmit
	FieldWait
	FieldRun
	FieldUsedProcs
	FieldAvgCPU
	FieldUsedMem
	FieldReqProcs
	FieldReqTime
	FieldReqMem
	FieldStatus
	FieldUser
	FieldGroup
	FieldApp
	FieldQueue
	FieldPartition
	FieldPrecedingJob
	FieldThinkTime
)

// NumFields is how many fields a line has.
const NumFields = int(FieldThinkTime)

// column describes the valid values of a field.
type column struct {
	name     string
	max      uint64
	decimals bool // a decimal part is rounded, not refused
	required bool // unknown is refused
}

// columns is indexed by Field-1.
var columns = [NumFields]column{
	{name: "job number", max: MaxID, required: true},
	{name: "submit time", max: MaxSeconds, decimals: true, required: true},
	{name: "wait time", max: MaxSeconds, decimals: true},
	{name: "run time", max: MaxSeconds, decimals: true},
	{name: "allocated processors", max: MaxProcs},
	{name: "average CPU time", max: MaxSeconds, decimals: true},
	{name: "used memory", max: MaxKB, decimals: true},
	{name: "requested processors", max: MaxProcs},
	{name: "requested time", max: MaxSeconds, decimals: true},
	{name: "requested memory", max: MaxKB, decimals: true},
	{name: "status", max: MaxStatus},
	{name: "user", max: MaxIndex},
	{name: "group", max: MaxIndex},
	{name: "application", max: MaxIndex},
	{name: "queue", max: MaxIndex},
	{name: "partition", max: MaxIndex},
	{name: "preceding job", max: MaxID},
	{name: "think time", max: MaxSeconds, decimals: true},
}

// String returns the field's name, such as "requested time".
func (f Field) String() string {
	if f < 1 || int(f) > NumFields {
		return fmt.Sprintf("field %d", int(f))
	}
	return columns[f-1].name
}

// accepted describes the range of a field.
func (c *column) accepted() string {
	if c.required {
		return fmt.Sprintf("0 to %d", c.max)
	}
	return fmt.Sprintf("0 to %d, or -1 for unknown", c.max)
}

// values are a job's fields in the order of the line.
type values [NumFields]int64

func (v *values) job() Job {
	return Job{
		ID:           v[FieldID-1],
		Submit:       v[FieldSubmit-1],
		Wait:         v[FieldWait-1],
		Run:          v[FieldRun-1],
		UsedProcs:    int32(v[FieldUsedProcs-1]),
		AvgCPU:       v[FieldAvgCPU-1],
		UsedMem:      v[FieldUsedMem-1],
		ReqProcs:     int32(v[FieldReqProcs-1]),
		ReqTime:      v[FieldReqTime-1],
		ReqMem:       v[FieldReqMem-1],
		Status:       int8(v[FieldStatus-1]),
		User:         int32(v[FieldUser-1]),
		Group:        int32(v[FieldGroup-1]),
		App:          int32(v[FieldApp-1]),
		Queue:        int32(v[FieldQueue-1]),
		Partition:    int32(v[FieldPartition-1]),
		PrecedingJob: v[FieldPrecedingJob-1],
		ThinkTime:    v[FieldThinkTime-1],
	}
}

func (j *Job) values() values {
	return values{
		j.ID, j.Submit, j.Wait, j.Run, int64(j.UsedProcs), j.AvgCPU, j.UsedMem,
		int64(j.ReqProcs), j.ReqTime, j.ReqMem, int64(j.Status),
		int64(j.User), int64(j.Group), int64(j.App), int64(j.Queue), int64(j.Partition),
		j.PrecedingJob, j.ThinkTime,
	}
}

// number parses any field at b[i], or after blanks, and returns its end.
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

// decimal is a parsed number.
type decimal struct {
	negative bool
	rounded  uint64 // amount to the nearest whole, halves up; at most hugeAmount+1
	fraction bool   // the decimal part is not zero
}

// hugeAmount is above every limit; larger amounts are replaced by it.
const hugeAmount = 1_000_000_000_000_000_000

// scanDecimal accepts digits with an optional minus before them and an optional point and
// digits after them, and nothing else.
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
