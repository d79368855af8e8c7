package bound_test

import (
	"fmt"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/dfrs/bound"
)

// Two nodes. A long job needs all of one; three short ones, which come later,
// need half a node for each of their two tasks.
func ExampleMaxStretch() {
	const node = int64(batch.One)
	jobs := []bound.Job{
		{Release: 0, Length: 100 * batch.Second, Rate: node},
		{Release: batch.Time(50 * batch.Second), Length: 20 * batch.Second, Rate: 2 * (node / 2)},
		{Release: batch.Time(50 * batch.Second), Length: 20 * batch.Second, Rate: 2 * (node / 2)},
		{Release: batch.Time(50 * batch.Second), Length: 20 * batch.Second, Rate: 2 * (node / 2)},
	}
	b, err := bound.MaxStretch(jobs, 2*node, 10*batch.Second)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("no schedule has a maximum stretch below %.3f\n", b.Low)

	jobs[2].Rate = 3 * node
	_, err = bound.MaxStretch(jobs, 2*node, 10*batch.Second)
	fmt.Println(err)
	// Output:
	// no schedule has a maximum stretch below 1.500
	// bound: job 2: rate 3145728: accepted: 1 to 2097152, the capacity of the machine
}
