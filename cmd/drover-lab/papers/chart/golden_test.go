package chart

import (
	"bytes"
	"flag"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write the golden files again")

func boxPlot() *BoxPlot {
	return &BoxPlot{
		Title: "Boxes", Note: "made up, and of so many words that they do not all have room in one line of the page, " +
			"which is not wide enough", XTitle: "group", YTitle: "share (%)", Scale: Percent, Palette: Pairs,
		Cover: []float64{0},
		Rule:  &Rule{At: 0.5, Label: "half"}, Groups: []string{"one", "two"}, Series: []string{"a", "b & c", "d"},
		Boxes: [][]Box{
			{{5, 0.1, 0.2, 0.3, 0.4, 0.6, 0.32}, {1, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5}, {}},
			{{}, {2, 0.2, 0.3, 0.4, 0.5, 0.6, 0.4}, {9, 0.05, 0.4, 0.7, 0.75, 0.8, 0.6}},
		},
	}
}

func lineChart() *Lines {
	return &Lines{
		Title: "Lines", Note: "made up", XTitle: "jobs", YTitle: "time (s)",
		Lines: []Line{
			{Name: "linear", X: []float64{10, 100, 1000}, Y: []float64{0.02, 0.2, 2}},
			{Name: "square", X: []float64{10, 100, 1000}, Y: []float64{0.01, 1, 100}},
		},
	}
}

func linearChart() *Lines {
	return &Lines{
		Title: "Lines over linear axes", Note: "made up", XTitle: "chance", YTitle: "gain",
		Linear: true, XScale: Percent, YScale: Percent, Rule: &Rule{At: 0, Label: "none"},
		Lines: []Line{
			{Name: "up and down", X: []float64{0, 0.1, 0.5, 1}, Y: []float64{0, 0.05, 0.1, -0.2}},
			{Name: "up", X: []float64{0, 0.1, 0.5, 1}, Y: []float64{0, 0.02, 0.08, 0.09}},
		},
	}
}

func halfLogarithmicChart() *Lines {
	return &Lines{
		Title: "Lines over one linear axis", Note: "made up", XTitle: "load", YTitle: "degradation", LinearX: true,
		Lines: []Line{{Name: "steep", X: []float64{0, 0.2, 0.4}, Y: []float64{1, 30, 900}}},
	}
}

func TestChartsAreTheSameBytesWheneverTheyAreDrawn(t *testing.T) {
	for name, c := range map[string]Chart{
		"boxes": boxPlot(), "lines": lineChart(), "linear": linearChart(),
		"half": halfLogarithmicChart(),
	} {
		t.Run(name, func(t *testing.T) {
			got, err := SVG(c)
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join("testdata", name+".svg")
			if *rewrite {
				if err := os.WriteFile(path, got, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%s differs from what is drawn; look at it after -rewrite", path)
			}
			first, err := PNG(c)
			if err != nil {
				t.Fatal(err)
			}
			second, err := PNG(c)
			if err != nil || !bytes.Equal(first, second) {
				t.Errorf("other pixels when drawn again, %v", err)
			}
			if config, err := png.DecodeConfig(bytes.NewReader(first)); err != nil || config.Width < 1200 {
				t.Errorf("%+v, %v", config, err)
			}
		})
	}
}

func TestAnSVGNamesCommonFonts(t *testing.T) {
	svg, err := SVG(boxPlot())
	if err != nil {
		t.Fatal(err)
	}
	if s := string(svg); strings.Count(s, "'Liberation Sans',Arial,Helvetica,sans-serif") != strings.Count(s, "<text") {
		t.Error("a text without its fonts")
	}
}

func TestChartsRefuseWhatCannotBeDrawn(t *testing.T) {
	boxes := func(change func(*BoxPlot)) Chart {
		b := boxPlot()
		change(b)
		return b
	}
	lines := func(change func(*Lines)) Chart {
		l := lineChart()
		change(l)
		return l
	}
	for want, c := range map[string]Chart{
		"0 groups and 2 rows of boxes":       boxes(func(b *BoxPlot) { b.Groups = nil }),
		"2 groups and 1 rows of boxes":       boxes(func(b *BoxPlot) { b.Boxes = b.Boxes[:1] }),
		"7 series and 4 colors":              boxes(func(b *BoxPlot) { b.Series = make([]string, 7) }),
		"3 series and 0 colors":              boxes(func(b *BoxPlot) { b.Palette = nil }),
		"group two has 1 boxes for 3 series": boxes(func(b *BoxPlot) { b.Boxes[1] = b.Boxes[1][:1] }),
		"no values": boxes(func(b *BoxPlot) {
			b.Boxes, b.Rule,
				b.Cover = [][]Box{make([]Box, 3), make([]Box, 3)}, nil, nil
		}),
		"0 lines, accepted: 1 to 8":               lines(func(l *Lines) { l.Lines = nil }),
		"line linear: 3 and 0 coordinates":        lines(func(l *Lines) { l.Lines[0].Y = nil }),
		"0 on a logarithmic axis, accepted: abov": lines(func(l *Lines) { l.Lines[1].X[0] = 0 }),
		"NaN on an axis":                          lines(func(l *Lines) { l.Lines[1].Y[0] = math.NaN() }),
	} {
		for _, draw := range []func(Chart) ([]byte, error){SVG, PNG} {
			if _, err := draw(c); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %q", err, want)
			}
		}
	}
}
