package swf_test

import (
	"fmt"
	"strings"

	"github.com/seed-9b8f70bb/drover/sim/swf"
)

func ExampleRead() {
	trace, err := swf.Read(strings.NewReader(`; MaxProcs: 128
    1   0  12  937  16 142.00  -1  16  1200  -1  1  97  1 307  3  -1  -1  -1
    2  60  -1   75   4     -1  -1   4   300  -1  0  81  1 195  3  -1  -1  -1
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	procs, _ := trace.Header.Procs()
	fmt.Println(procs, "processors")
	for _, j := range trace.Jobs {
		fmt.Printf("at %ds: %d processors for %ds of %ds\n", j.Submit, j.ReqProcs, j.Run, j.ReqTime)
	}
	// Output:
	// 128 processors
	// at 0s: 16 processors for 937s of 1200s
	// at 60s: 4 processors for 75s of 300s
}

func ExampleParseError() {
	_, err := swf.Read(strings.NewReader("1 0 12 soon"))
	fmt.Println(err)
	// Output:
	// swf: line 1: field 4 (run time) "soon": not a number; accepted: 0 to 10000000000, or -1 for unknown
}
