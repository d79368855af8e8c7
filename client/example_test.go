package client_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/seed-9b8f70bb/drover/client"
	"github.com/seed-9b8f70bb/drover/client/submission"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// Solve a linear system wherever it is solved first, and fetch the solution.
func ExampleClient_Call() {
	grid, err := client.New(client.Default("http://127.0.0.1:7410"))
	if err != nil {
		log.Fatal(err)
	}
	defer grid.Close()
	job, err := grid.Call(context.Background(), "lu",
		client.File("matrix", "A.mtx"), client.Int("repeat", 10), client.OutputTo("solution", "x.mtx"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("solved at", job.Site, "on", job.Shape.Width, "processors")
}

// Submit, do something else, and wait later.
func ExampleClient_Submit() {
	grid, err := client.New(client.Default("http://127.0.0.1:7410", "http://127.0.0.1:7510"))
	if err != nil {
		log.Fatal(err)
	}
	defer grid.Close()
	ctx := context.Background()
	job, err := grid.Submit(ctx, "sleep", client.Float("seconds", 2), client.Walltime(10*time.Second))
	var unknown *submission.UnknownError
	switch {
	case errors.As(err, &unknown):
		log.Fatalf("it may run; ask for job %s later", unknown.Job)
	case err != nil:
		log.Fatal(err)
	}
	job, err = grid.Wait(ctx, job.ID)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(job.State, job.Outcome.ExitCode)
}

// Branch on what was refused.
func Example_problem() {
	grid, err := client.New(client.Default("http://127.0.0.1:7410"))
	if err != nil {
		log.Fatal(err)
	}
	defer grid.Close()
	_, err = grid.Submit(context.Background(), "mandelbrot", client.Int("columns", -1))
	var refused *problem.Problem
	if errors.As(err, &refused) && refused.Reason == "out-of-range" {
		fmt.Println(refused.Field, "accepts", refused.Accepted)
	}
}

// Follow what a job writes.
func ExampleClient_Logs() {
	grid, err := client.New(client.Default("http://127.0.0.1:7410"))
	if err != nil {
		log.Fatal(err)
	}
	defer grid.Close()
	err = grid.Logs(context.Background(), os.Args[1], client.LogOptions{Follow: true}, os.Stdout)
	if err != nil {
		log.Fatal(err)
	}
}

// See why a job is where it is.
func ExampleClient_Why() {
	grid, err := client.New(client.Default("http://127.0.0.1:7410"))
	if err != nil {
		log.Fatal(err)
	}
	defer grid.Close()
	decision, job, err := grid.Why(context.Background(), os.Args[1])
	if err != nil || decision == nil {
		log.Fatal("no record: ", err)
	}
	fmt.Println(job.Service, "is at", job.Site)
	for _, c := range decision.Candidates {
		if c.Missing != nil {
			fmt.Println(c.Site, "did not say:", c.Missing.Reason)
			continue
		}
		fmt.Println(c.Site, "would finish it in", c.Completion, "on", c.Shape.Width, "processors")
	}
}

// Replace an attempt of an idempotent request when its site is silent
// for ten minutes.
func ExampleRerun() {
	grid, err := client.New(client.Default("http://127.0.0.1:7410"))
	if err != nil {
		log.Fatal(err)
	}
	defer grid.Close()
	job, err := grid.Call(context.Background(), "mandelbrot", client.Int("columns", 640),
		client.Idempotent(), client.Rerun(10*time.Minute))
	if err != nil {
		log.Fatal(err)
	}
	if job.RetryOf != "" {
		fmt.Println("in place of", job.RetryOf)
	}
}

// Move a waiting job to where it would be finished at least a minute sooner.
func ExampleClient_Move() {
	grid, err := client.New(client.Default("http://127.0.0.1:7410"))
	if err != nil {
		log.Fatal(err)
	}
	defer grid.Close()
	gain := time.Minute
	job, to, err := grid.Move(context.Background(), "01a1fddd-b7ba-7e51-8bf0-783efd4419a7",
		client.MoveOrder{MinGain: &gain})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("on its way from", job.Site, "to", to)
}
