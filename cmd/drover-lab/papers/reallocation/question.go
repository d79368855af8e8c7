package reallocation

import (
	"embed"
	"path"
	"strings"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/chart"
)

// Question is something that the paper left open: ways to reallocate are compared
// with each other on the same jobs and seeds.
type Question struct {
	ID       string
	Asks     string
	only     string // the scenario that it is about, if not all
	variants []variant
	groups   []group
	palette  chart.Palette
}

// variant is a way to reallocate, whatever the algorithm is.
type variant struct {
	name        string
	homogeneous bool
	tuning      string // empty: exhaustive, as a grid tunes without more ado
	scenario    string // in place of the one that it is about
	way         Way    // without its algorithm
	against     int    // the variant that it is compared with; itself: none
}

// group is where variants are compared.
type group struct {
	dedicated bool
	algorithm string
}

func (g group) String() string { return platform(g.dedicated) + ", " + g.algorithm }

// short is what a chart has room for.
func (g group) short() string {
	if g.algorithm == cancellation {
		return platform(g.dedicated) + ", all-canc."
	}
	return platform(g.dedicated) + ", regular"
}

var (
	everyGroup       = []group{{true, regular}, {true, cancellation}, {false, regular}, {false, cancellation}}
	cancellationOnly = []group{{true, cancellation}, {false, cancellation}}
)

// guarded is the patience of the question about the guard.
const guarded = "3"

// plain returns a way under the paper's settings.
func plain(heuristic, window string) Way {
	return Way{Heuristic: heuristic, Window: window, Period: paperPeriod, Threshold: paperThreshold, Patience: unguarded}
}

func with(w Way, change func(*Way)) Way {
	change(&w)
	return w
}

func period(seconds string) Way {
	return with(plain(mct, paperWindow), func(w *Way) { w.Period = seconds })
}

// key returns the experiment of a variant.
func (v *variant) key(g group, scenario string, seed uint64) Key {
	k := Key{Scenario: scenario, Homogeneous: v.homogeneous, Dedicated: g.dedicated, Tuning: v.tuning, Seed: seed, Way: v.way}
	k.Way.Algorithm = g.algorithm
	k.Way = k.Way.meaning()
	if k.Tuning == "" {
		k.Tuning = exhaustive
	}
	if v.scenario != "" {
		k.Scenario = v.scenario
	}
	return k
}

func patient(w Way) Way { return with(w, func(w *Way) { w.Patience = guarded }) }

// Questions returns all questions.
func Questions() []Question {
	const whole = "all"
	return []Question{
		{
			ID: "window", Asks: "Does MinMin over the whole queue beat MCT?", groups: everyGroup, palette: chart.Steps,
			variants: []variant{
				{name: "MCT", way: plain(mct, paperWindow)},
				{name: "MinMin, 20 oldest", way: plain(minmin, paperWindow)},
				{name: "MinMin, whole queue", way: plain(minmin, whole)},
			},
		},
		{
			ID: "heuristics", Asks: "Do other heuristics beat MCT, over the whole queue?", groups: everyGroup, palette: chart.Steps,
			variants: []variant{
				{name: "MCT", way: plain(mct, paperWindow)},
				{name: "MinMin", way: plain(minmin, whole)},
				{name: "MaxMin", way: plain("maxmin", whole)},
				{name: "Sufferage", way: plain("sufferage", whole)},
				{name: "MaxGain", way: plain("maxgain", whole)},
				{name: "MaxRelGain", way: plain("maxrelgain", whole)},
			},
		},
		{
			ID: "guard", Asks: "Does the guard against starvation cost anything?", groups: cancellationOnly, palette: chart.Pairs,
			variants: []variant{
				{name: "MCT, none", way: plain(mct, paperWindow)},
				{name: "MCT, patience 3", way: patient(plain(mct, paperWindow))},
				{name: "MinMin (all), none", way: plain(minmin, whole), against: 2},
				{name: "MinMin (all), patience 3", way: patient(plain(minmin, whole)), against: 2},
			},
		},
		{
			ID: "period", Asks: "Which period is best, under MCT?", groups: everyGroup, palette: chart.Steps,
			variants: []variant{
				{name: "15 min", way: period("900"), against: 2},
				{name: "30 min", way: period("1800"), against: 2},
				{name: "1 h", way: period(paperPeriod), against: 2},
				{name: "2 h", way: period("7200"), against: 2},
				{name: "6 h", way: period("21600"), against: 2},
			},
		},
		{
			ID: "homogeneous", Asks: "Is more gained where all sites have one speed?", groups: everyGroup, palette: chart.Pairs,
			variants: []variant{
				{name: "MCT, speeds differ", tuning: binary, way: plain(mct, paperWindow)},
				{name: "MCT, one speed", tuning: binary, way: plain(mct, paperWindow), homogeneous: true},
				{name: "MinMin, speeds differ", tuning: binary, way: plain(minmin, paperWindow), against: 2},
				{name: "MinMin, one speed", tuning: binary, way: plain(minmin, paperWindow), homogeneous: true, against: 2},
			},
		},
		{
			ID: "tuning", Asks: "Is more gained where sites tune exhaustively?", groups: everyGroup, palette: chart.Pairs,
			variants: []variant{
				{name: "MCT, binary", tuning: binary, way: plain(mct, paperWindow)},
				{name: "MCT, exhaustive", way: plain(mct, paperWindow)},
				{name: "MinMin, binary", tuning: binary, way: plain(minmin, paperWindow), against: 2},
				{name: "MinMin, exhaustive", way: plain(minmin, paperWindow), against: 2},
			},
		},
		{
			ID: "size", Asks: "Is more gained on machines of the paper's size?", only: "pwa", groups: everyGroup, palette: chart.Pairs,
			variants: []variant{
				{name: "MCT, pwa", tuning: binary, way: plain(mct, paperWindow)},
				{name: "MCT, pwa640", scenario: "pwa640", tuning: binary, way: plain(mct, paperWindow)},
				{name: "MinMin, pwa", tuning: binary, way: plain(minmin, paperWindow), against: 2},
				{name: "MinMin, pwa640", scenario: "pwa640", tuning: binary, way: plain(minmin, paperWindow), against: 2},
			},
		},
	}
}

//go:embed campaigns/*.yaml
var campaigns embed.FS

// Campaigns returns the campaign files that, beside the paper's own experiments,
// make the rows of all questions: by name, in order.
func Campaigns() (names []string, texts [][]byte, err error) {
	entries, err := campaigns.ReadDir("campaigns")
	if err != nil {
		return nil, nil, err
	}
	for _, e := range entries {
		text, err := campaigns.ReadFile(path.Join("campaigns", e.Name()))
		if err != nil {
			return nil, nil, err
		}
		names, texts = append(names, strings.TrimSuffix(e.Name(), ".yaml")), append(texts, text)
	}
	return names, texts, nil
}
