package client_test

import (
	"context"
	"fmt"
	"log"

	"github.com/seed-9b8f70bb/drover/client"
)

// Send a matrix once, and use it in many requests; keep what one job writes for the
// next one.
func ExampleClient_PutData() {
	ctx := context.Background()
	grid, err := client.New(client.Default("http://127.0.0.1:7410"))
	if err != nil {
		log.Fatal(err)
	}
	defer grid.Close()
	block, err := client.OpenNPY("a.npy")
	if err != nil {
		log.Fatal(err)
	}
	a, err := grid.PutData(ctx, client.DataBlock(block), client.PutOptions{Mode: client.DataPersistent})
	if err != nil {
		log.Fatal(err)
	}
	square, err := grid.Call(ctx, "gemm", client.Stored("a", a), client.Stored("b", a), client.Stored("c", a),
		client.Keep("c", client.DataVolatile))
	if err != nil {
		log.Fatal(err)
	}
	kept := &client.Data{ID: square.Kept["c"].ID}
	job, err := grid.Call(ctx, "gemm", client.Stored("a", kept), client.Stored("b", a), client.Stored("c", a),
		client.OutputTo("c", "cube.npy"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("multiplied at", job.Site)
}
