package gridrpc_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/seed-9b8f70bb/drover/client"
	"github.com/seed-9b8f70bb/drover/client/gridrpc"
)

// Call a function of the grid as the GridRPC standard has it.
func ExampleInitialize() {
	ctx := context.Background()
	grid, err := gridrpc.Initialize("client.yaml")
	if errors.Is(err, gridrpc.ConfigfileNotFound) {
		grid, err = gridrpc.Initialize("") // what the environment says, or a grid on this host
	}
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = grid.Finalize() }()
	solve, err := grid.Handle(ctx, "lu")
	if err != nil {
		log.Fatal(err)
	}
	var solution []byte
	if err := solve.Call(ctx, "A.mtx", nil, 10, &solution); err != nil {
		log.Fatal(gridrpc.CodeOf(err).String(), ": ", err)
	}
	fmt.Printf("%s", solution)
}

// Multiply matrices: what goes in and comes out is replaced when the call is over.
func ExampleHandle_Call_matrices() {
	ctx := context.Background()
	grid, err := gridrpc.Initialize("")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = grid.Finalize() }()
	gemm, err := grid.Handle(ctx, "gemm")
	if err != nil {
		log.Fatal(err)
	}
	a, err := client.DenseOf([][]float64{{1, 2}, {3, 4}})
	if err != nil {
		log.Fatal(err)
	}
	b, c := client.NewDense[float64](2, 3), client.NewDense[float64](2, 3)
	b.Set(0, 0, 1)
	if err := gemm.Call(ctx, 1.0, a, b, 0.0, c); err != nil { // alpha, A, B, beta, C
		log.Fatal(err)
	}
	fmt.Println(c.At(1, 0), c.Row(0))
}

// Bind calls to one site, and give wishes about how they are executed.
func ExampleGrid_HandleAt() {
	ctx := context.Background()
	grid, err := gridrpc.InitializeAgents([]string{"http://127.0.0.1:7410", "http://127.0.0.1:7510"})
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = grid.Finalize() }()
	render, err := grid.HandleAt(ctx, "lyon", "mandelbrot")
	switch {
	case errors.Is(err, gridrpc.ServerNotFound), errors.Is(err, gridrpc.FunctionNotFound):
		log.Fatal("not at lyon: ", err)
	case err != nil:
		log.Fatal(err)
	}
	if err := render.Call(ctx, 1920, 1280, client.OutputTo("image", "picture.png"), client.Width(4)); err != nil {
		log.Fatal(err)
	}
}

// Call many times at once, and take the results as they come.
func ExampleGrid_WaitAny() {
	ctx := context.Background()
	grid, err := gridrpc.Initialize("")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = grid.Finalize() }()
	render, err := grid.Handle(ctx, "mandelbrot")
	if err != nil {
		log.Fatal(err)
	}
	for zoom := 1; zoom <= 64; zoom *= 2 {
		if _, err := render.CallAsync(ctx, nil, nil, nil, nil, zoom); err != nil {
			log.Fatal(err)
		}
	}
	for {
		s, err := grid.WaitAny(ctx)
		switch {
		case errors.Is(err, gridrpc.NoneCompleted): // all have been returned
			return
		case errors.Is(err, gridrpc.SessionFailed):
			fmt.Println(s.ID(), "failed:", err)
		case err != nil:
			log.Fatal(err)
		default:
			fmt.Println(s.ID(), "is done at", s.Job().Site)
		}
	}
}

// Wait for all calls, see which have failed, and end what takes too long.
func ExampleGrid_WaitAll() {
	grid, err := gridrpc.Initialize("")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = grid.Finalize() }()
	sleep, err := grid.Handle(context.Background(), "sleep")
	if err != nil {
		log.Fatal(err)
	}
	for seconds := range 10 {
		if _, err := sleep.CallAsync(context.Background(), seconds); err != nil {
			log.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	err = grid.WaitAll(ctx)
	if errors.Is(err, gridrpc.NotCompleted) {
		err = grid.CancelAll(context.Background())
	}
	fmt.Println(gridrpc.CodeOf(err))
	for {
		s, err := grid.FailedSession()
		if err != nil || s == nil {
			return
		}
		fmt.Println(s.ID(), s.Err())
	}
}

// Ask how a call stands without waiting for it.
func ExampleSession_Probe() {
	ctx := context.Background()
	grid, err := gridrpc.Initialize("")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = grid.Finalize() }()
	sleep, err := grid.Handle(ctx, "sleep")
	if err != nil {
		log.Fatal(err)
	}
	s, err := sleep.CallAsync(ctx, 60)
	if err != nil {
		log.Fatal(err)
	}
	if errors.Is(s.Probe(ctx), gridrpc.NotCompleted) {
		err = s.Cancel(ctx)
	}
	fmt.Println(err, s.Wait(ctx))
}

// Gather the arguments of a call while the program runs.
func ExampleArgStack() {
	ctx := context.Background()
	grid, err := gridrpc.Initialize("")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = grid.Finalize() }()
	function, err := grid.Handle(ctx, os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	var stack gridrpc.ArgStack
	for i, about := range function.Service().Arguments {
		var v any // the default
		if about.Type == client.TypeFile && i+2 < len(os.Args) {
			v = os.Args[i+2]
		}
		if err := stack.Push(v); err != nil {
			log.Fatal(err)
		}
	}
	s, err := function.CallStackAsync(ctx, &stack)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(s.ID(), s.Wait(ctx))
}

// Manage data as GridRPC's data management does.
func ExampleGrid_PutData() {
	ctx := context.Background()
	grid, err := gridrpc.Initialize("")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = grid.Finalize() }()
	data, err := grid.PutData(ctx, client.DataFile("A.mtx"), client.PutOptions{Site: "lyon", Mode: client.DataSticky})
	if err != nil {
		log.Fatal(gridrpc.CodeOf(err).String(), ": ", err)
	}
	solve, err := grid.Handle(ctx, "lu")
	if err != nil {
		log.Fatal(err)
	}
	if err := solve.Call(ctx, data, nil, 10, os.Stdout); err != nil { // at lyon, where the data are
		log.Fatal(err)
	}
	if _, err := grid.FreeData(ctx, data); err != nil {
		log.Fatal(err)
	}
}
