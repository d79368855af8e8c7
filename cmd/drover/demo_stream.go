package main

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/seed-9b8f70bb/drover/client"
	"github.com/seed-9b8f70bb/drover/services/lu"
)

// demoMode says how large the demo is.
type demoMode struct {
	jobs               int
	gap                time.Duration // mean time between submissions
	minSleep, maxSleep float64       // seconds
	pixels             []int         // columns of the pictures
	iterations         []int         // at most, of each pixel
	repeat             []int         // solutions of each system
}

var (
	// demoFull keeps 18 processors busy, and lets queues grow and drain.
	demoFull = demoMode{
		jobs: 36, gap: 550 * time.Millisecond, minSleep: 2, maxSleep: 7,
		pixels: []int{480, 720, 960}, iterations: []int{1000, 2000, 3000}, repeat: []int{500, 1000, 2000},
	}
	demoQuick = demoMode{
		jobs: 14, gap: 250 * time.Millisecond, minSleep: 0.5, maxSleep: 2,
		pixels: []int{240, 360}, iterations: []int{500, 1000}, repeat: []int{50, 100},
	}
)

// demoRequest is one request of the stream.
type demoRequest struct {
	at      time.Duration // of its submission, from the start of the stream
	service string
	values  map[string]any // int64, float64 or []byte by argument
}

// arguments returns the request in the words of the client.
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

// demoView is a part of the Mandelbrot set; see package mandelbrot.
var demoViews = []struct{ x, y, zoom float64 }{
	{-0.65, 0, 1},            // the whole
	{-0.743643, 0.1318, 50},  // seahorse valley
	{-0.1011, 0.9563, 20},    // a small copy
	{-0.16, 1.0405, 26},      // at the tip of the branch
	{-0.65, 0, 1.25},         // the whole, closer
	{-1.25066, 0.02012, 100}, // between the bulbs
}

// demoStream returns the requests of a seed, in the order of submission. Six in
// ten sleep, on a fixed width; the others compute, on the width that the site
// chooses. Of three requests, each service has one.
func demoStream(seed uint64, m demoMode) []demoRequest {
	rnd := rand.New(rand.NewPCG(seed, 0xd307e4))
	deck := make([]string, m.jobs)
	for i := range deck {
		deck[i] = [...]string{"mandelbrot", "lu", "sleep", "sleep", "mandelbrot", "sleep", "sleep", "sleep", "mandelbrot", "sleep"}[i%10]
	}
	rnd.Shuffle(len(deck), func(i, j int) { deck[i], deck[j] = deck[j], deck[i] })
	matrix := lu.LundA()
	stream := make([]demoRequest, m.jobs)
	at := 0.0
	for i, service := range deck {
		r := &stream[i]
		r.at, r.service = time.Duration(at*float64(m.gap)).Round(time.Millisecond), service
		at += min(rnd.ExpFloat64(), 4)
		switch service {
		case "sleep":
			seconds := m.minSleep + (m.maxSleep-m.minSleep)*rnd.Float64()
			r.values = map[string]any{
				"seconds":    math.Round(seconds*10) / 10,
				"processors": pick(rnd, []int64{1, 1, 2, 2, 3, 4, 4, 6, 8}),
			}
		case "lu":
			r.values = map[string]any{"matrix": matrix, "order": int64(lundUnknowns), "repeat": int64(pick(rnd, m.repeat))}
		case "mandelbrot":
			columns, view := pick(rnd, m.pixels), pick(rnd, demoViews)
			r.values = map[string]any{
				"columns": int64(columns), "rows": int64(columns * 2 / 3), "iterations": int64(pick(rnd, m.iterations)),
				"centre_x": view.x, "centre_y": view.y, "zoom": view.zoom,
			}
		}
	}
	return stream
}

func pick[T any](rnd *rand.Rand, from []T) T { return from[rnd.IntN(len(from))] }
