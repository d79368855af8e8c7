package lublin_test

import (
	"context"
	"fmt"

	"github.com/seed-9b8f70bb/drover/sim/lublin"
)

func ExampleGenerate() {
	trace, err := lublin.Generate(context.Background(), lublin.Config{Jobs: 1000, Procs: 128, Load: 0.8, Seed: 42})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d jobs, offered load %.3f\n", len(trace.Jobs), lublin.OfferedLoad(trace.Jobs, 128))
	// Output:
	// 1000 jobs, offered load 0.800
}
