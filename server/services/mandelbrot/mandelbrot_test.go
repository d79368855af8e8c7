package mandelbrot

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

var rewrite = flag.Bool("rewrite", false, "rewrite testdata; review it before committing")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// small is a view that renders fast enough for tests.
func small(t *testing.T) Config {
	cfg := DefaultConfig()
	cfg.Width, cfg.Height, cfg.Iterations = 96, 64, 300
	cfg.Output = filepath.Join(t.TempDir(), "out.png")
	return cfg
}

func runAndRead(t *testing.T, cfg Config) []byte {
	t.Helper()
	if err := Run(context.Background(), cfg, io.Discard); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(cfg.Output)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestTheFileIsTheSameForAnyNumberOfThreads(t *testing.T) {
	cfg := small(t)
	want := runAndRead(t, cfg)
	for _, threads := range []int{2, 3, 4, 100} {
		cfg.Threads = threads
		if !bytes.Equal(want, runAndRead(t, cfg)) {
			t.Errorf("%d threads give different bytes than 1", threads)
		}
	}
}

func TestTheImageMatchesTheGoldenImage(t *testing.T) {
	const golden = "testdata/whole.png"
	data := runAndRead(t, small(t))
	if *rewrite {
		if err := os.WriteFile(golden, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	old, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	// The test compares pixels, because compression can change with the Go version,
	// with a tolerance of one unit, because logarithms can differ in the last bit
	// between processors.
	want, got := decode(t, old), decode(t, data)
	if want.Bounds() != got.Bounds() {
		t.Fatalf("bounds %v, want %v", got.Bounds(), want.Bounds())
	}
	for y := range want.Bounds().Dy() {
		for x := range want.Bounds().Dx() {
			if a, b := rgb(want.At(x, y)), rgb(got.At(x, y)); distance(a, b) > 1 {
				t.Fatalf("pixel (%d, %d) is %v, want %v", x, y, b, a)
			}
		}
	}
}

func decode(t *testing.T, data []byte) image.Image {
	t.Helper()
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return img
}

func rgb(c color.Color) [3]int {
	r, g, b, _ := c.RGBA()
	return [3]int{int(r >> 8), int(g >> 8), int(b >> 8)}
}

func distance(a, b [3]int) int {
	d := 0
	for i := range a {
		d = max(d, a[i]-b[i], b[i]-a[i])
	}
	return d
}

func TestKnownPointsEscapeAfterTheirNumberOfSteps(t *testing.T) {
	for _, tt := range []struct {
		name  string
		x, y  float64
		steps int // 100: never
	}{
		{"origin", 0, 0, 100},
		{"cycle of two at -1", -1, 0, 100},
		{"tip of the antenna", -2, 0, 100},
		{"i, which ends in a cycle", 0, 1, 100},
		// About pi/sqrt(0.26-0.25) steps, a known fact, and two more to the larger radius.
		{"just beyond the cusp", 0.26, 0, 32},
		// 0, 1, 2, 5, 26, 677: the fifth iterate is the first over the radius 256.
		{"one", 1, 0, 5},
		// 0, 4, 20, 404
		{"far out", 4, 0, 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			color, steps := point(tt.x, tt.y, 100)
			if steps != tt.steps {
				t.Errorf("%d iterations, want %d", steps, tt.steps)
			}
			if (color == inside) != (tt.steps == 100) {
				t.Errorf("color %v after %d iterations", color, steps)
			}
		})
	}
}

func TestColorsAreSmoothAcrossBands(t *testing.T) {
	// Along the positive axis from 0.3 outwards the step count falls in jumps, but colors
	// change smoothly.
	previous, _ := point(0.3, 0, 1000)
	for x := 0.3; x < 2; x += 1e-4 {
		color, _ := point(x, 0, 1000)
		if d := distance(rgb(previous), rgb(color)); d > 4 {
			t.Fatalf("at x = %.4f the color jumps by %d from %v to %v", x, d, previous, color)
		}
		previous = color
	}
}

func TestTheImaginaryAxisPointsUpwards(t *testing.T) {
	cfg := small(t)
	cfg.CentreX, cfg.CentreY, cfg.Zoom = 0, 1, 1000 // around i
	cfg.Width, cfg.Height = 3, 3
	img, _, err := render(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	pixel := fullWidth / cfg.Zoom / 3
	for row, y := range []float64{1 + pixel, 1, 1 - pixel} {
		want, _ := point(0, y, cfg.Iterations)
		if got := img.RGBAAt(1, row); got != want {
			t.Errorf("row %d is %v, want %v, the color of %vi", row, got, want, y)
		}
	}
}

func TestACancelledRunStopsAndLeavesNoFile(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	cfg := small(t)
	cfg.Width, cfg.Height, cfg.Iterations, cfg.Threads = MaxSide, 64, MaxIterations, 3 // minutes of work
	if err := Run(ctx, cfg, io.Discard); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
	if left, _ := os.ReadDir(filepath.Dir(cfg.Output)); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestTheReportCountsTheIterations(t *testing.T) {
	cfg := small(t)
	cfg.Width, cfg.Height, cfg.CentreX, cfg.Zoom = 7, 5, 0, 1e6 // all inside
	var report strings.Builder
	if err := Run(context.Background(), cfg, &report); err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("iterations  %d\n", 7*5*300); !strings.Contains(report.String(), want) {
		t.Errorf("report lacks %q:\n%s", want, report.String())
	}
}

func TestNeighboringPixelsDifferAtTheLargestZoom(t *testing.T) {
	pixel := fullWidth / MaxZoom / MaxSide
	// In the disk |c| <= 2 neighboring floats are at most this far apart.
	if float := math.Nextafter(2, 0); 2-float > pixel/4 {
		t.Errorf("a pixel of %v is under four float64 steps of %v", pixel, 2-float)
	}
}

func TestValidateReportsEveryArgument(t *testing.T) {
	good := small(t)
	if err := good.Validate(); err != nil {
		t.Fatalf("default: %v", err)
	}
	for argument, spoil := range map[string]func(*Config){
		"width":      func(c *Config) { c.Width = 0 },
		"height":     func(c *Config) { c.Height = MaxSide + 1 },
		"centre_x":   func(c *Config) { c.CentreX = math.NaN() },
		"centre_y":   func(c *Config) { c.CentreY = -5 },
		"zoom":       func(c *Config) { c.Zoom = math.Inf(1) },
		"iterations": func(c *Config) { c.Iterations = 1_000_000_000_000 },
		"threads":    func(c *Config) { c.Threads = -1 },
		"output":     func(c *Config) { c.Output = "" },
	} {
		bad := good
		spoil(&bad)
		err := Run(context.Background(), bad, io.Discard)
		if err == nil || !strings.HasPrefix(err.Error(), argument+": got ") {
			t.Errorf("%s: got %v", argument, err)
		}
	}
	if err := (Config{}).Validate(); strings.Count(err.Error(), "accepted: ") != 6 {
		t.Errorf("an empty Config has 6 problems, got:\n%v", err)
	}
}

func BenchmarkRender(b *testing.B) {
	for _, width := range []int{240, 480} {
		for _, threads := range []int{1, 2} {
			b.Run(fmt.Sprintf("%dx%d/threads=%d", width, width*2/3, threads), func(b *testing.B) {
				cfg := DefaultConfig()
				cfg.Width, cfg.Height, cfg.Threads = width, width*2/3, threads
				for b.Loop() {
					_, n, err := render(context.Background(), cfg)
					if err != nil {
						b.Fatal(err)
					}
					b.ReportMetric(float64(n), "iterations")
				}
			})
		}
	}
}
