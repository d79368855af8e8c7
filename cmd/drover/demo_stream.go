package main

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/seed-9b8f70bb/drover/client"
	"github.com/seed-9b8f70bb/drover/server/services/lu"
)

// demoMode is the size of the demo.
type demoMode struct {
	jobs    int
	gap     time.Duration // mean time between submissions
	sleep   []int         // seconds
	columns []int64       // of the pictures
	render  []float64     // cost of a picture, seconds of a current processor
	repeat  []int64       // solutions of each system
}

var (
	// demoFull keeps 18 processors busy; queues grow and drain.
	demoFull = demoMode{
		jobs: 36, gap: 500 * time.Millisecond, sleep: []int{2, 7, 4, 3, 6, 5},
		columns: []int64{480, 720, 960}, render: []float64{0.3, 0.6, 1.2}, repeat: []int64{500, 1000, 2000},
	}
	demoQuick = demoMode{
		jobs: 14, gap: 250 * time.Millisecond, sleep: []int{0, 1, 2},
		columns: []int64{240, 360}, render: []float64{0.05, 0.1}, repeat: []int64{50, 100},
	}
)

// demoRequest is one request of the stream.
type demoRequest struct {
	at      time.Duration // of its submission, from the start of the stream
	service string
	values  map[string]any // int64, float64 or []byte by argument
}

// arguments returns the request for the client.
func (r *demoRequest) arguments() []client.Arg {
	args := []client.Arg{client.Owner("demo")}
	for _, name := range slices.Sorted(maps.Keys(r.values)) {
		switch v := r.values[name].(type) {
		case int64:
			args = append(args, client.Int(name, v))
		case float64:
			args = append(args, client.Float(name, v))
		case []byte:
			args = append(args, client.Content(name, v))
		}
	}
	return args
}

// The unknowns of the matrix that the demo solves.
const lundUnknowns = 147

// demoViews are parts of the Mandelbrot set, with the mean share of the allowed iterations
// that a pixel takes.
var demoViews = []struct{ x, y, zoom, share float64 }{
	{-0.65, 0, 1, 0.21},            // the whole
	{-0.65, 0, 1.25, 0.32},         // closer
	{-0.743643, 0.1318, 50, 0.47},  // seahorse valley
	{0.2925, 0.0149, 30, 0.51},     // elephant valley
	{-1.25066, 0.02012, 100, 0.90}, // between two bulbs
}

const (
	secondsPerIteration = 3.4e-9 // of a pixel; see the bundled services' README
	// sleepOverWhole makes a sleep and its margin fill whole seconds, as
	// walltimes have them.
	sleepOverWhole = 0.4
)

// demoStream returns the requests of a seed, in the order of submission. Six in ten sleep,
// on a fixed width; the others compute, on the width that the site chooses. Seeds only
// change the order and the combinations, not the amount of work, so every stream takes
// about as long.
func demoStream(seed uint64, m demoMode) []demoRequest {
	rnd := rand.New(rand.NewPCG(seed, 0xd307e4))
	matrix := lu.LundA()
	var (
		services = deal(rnd, m.jobs, []string{
			"mandelbrot", "lu", "sleep", "sleep", "mandelbrot", "sleep", "sleep", "sleep", "mandelbrot", "sleep",
		})
		widths  = deal(rnd, m.jobs, []int64{1, 4, 2, 6, 1, 8, 2, 4, 3})
		seconds = deal(rnd, m.jobs, m.sleep)
		repeats = deal(rnd, m.jobs, m.repeat)
		columns = deal(rnd, m.jobs, m.columns)
		costs   = deal(rnd, m.jobs, m.render)
		views   = deal(rnd, m.jobs, demoViews)
		at      = arrivals(rnd, m.jobs, m.gap)
	)
	stream := make([]demoRequest, m.jobs)
	for i := range stream {
		r := &stream[i]
		r.at, r.service = at[i], services[i]
		switch r.service {
		case "sleep":
			r.values = map[string]any{"seconds": float64(seconds[i]) + sleepOverWhole, "processors": widths[i]}
		case "lu":
			r.values = map[string]any{"matrix": matrix, "order": int64(lundUnknowns), "repeat": repeats[i]}
		case "mandelbrot":
			v, rows := views[i], columns[i]*2/3
			iterations := costs[i] / (secondsPerIteration * v.share * float64(columns[i]*rows))
			r.values = map[string]any{
				"columns": columns[i], "rows": rows, "iterations": max(1, int64(math.Round(iterations/100))) * 100,
				"centre_x": v.x, "centre_y": v.y, "zoom": v.zoom,
			}
		}
	}
	return stream
}

// deal returns n cards, repeating the deck as often as needed, shuffled.
func deal[T any](rnd *rand.Rand, n int, deck []T) []T {
	cards := make([]T, n)
	for i := range cards {
		cards[i] = deck[i%len(deck)]
	}
	rnd.Shuffle(n, func(i, k int) { cards[i], cards[k] = cards[k], cards[i] })
	return cards
}

// arrivals returns n instants, the first 0 and the last (n-1) gaps later, with
// exponential gaps between them.
func arrivals(rnd *rand.Rand, n int, gap time.Duration) []time.Duration {
	at, sum := make([]float64, n), 0.0
	for i := 1; i < n; i++ {
		sum += rnd.ExpFloat64()
		at[i] = sum
	}
	instants := make([]time.Duration, n)
	for i := 1; i < n; i++ {
		instants[i] = time.Duration(at[i] / sum * float64(n-1) * float64(gap)).Round(time.Millisecond)
	}
	return instants
}
