package dynp

import (
	"slices"
)

// Trace is a trace of the dynP paper, as it is to be had now.
type Trace struct {
	Name, File string
	Procs      int64
	About      string // what it has to do with the paper's
}

// Traces are those of the paper but for LANL, which has no file here.
var Traces = []Trace{
	{"KTH", "KTH-SP2-1996-2.swf.gz", 100, "the paper's, but for one of its 28,490 jobs"},
	{"CTC", "CTC-SP2-1996-3.1-cln.swf.gz", 430, "cleaned; the paper's has 79,302 jobs"},
	{"SDSC", "SDSC-SP2-1998-4.2-cln.swf.gz", 128, "cleaned; the paper's has 67,620 jobs that run"},
}

// Run is one run of dynP: a trace and settings, as drover sim run --set has
// them.
type Run struct {
	Trace                            string
	Policies, Decider, Metric, Equal string
	Half, Shared                     bool
}

// Figures are what came of a run.
type Figures struct {
	Jobs        int
	SLDwA       float64
	Utilization float64
	Steps       int
	Policies    []Policy
	Cases       []Case
}

// Policy is what one policy did in a run.
type Policy struct {
	Name              string
	Switches, Started int
}

// Case is how often these were the best while one was active.
type Case struct {
	Active string
	Best   []string
	Steps  int
}

// The settings of the paper.
const (
	allThree = "FCFS,SJF,LJF"
	sldwa    = "SLDwA"
)

var (
	basics   = []string{"FCFS", "SJF", "LJF"}
	deciders = []string{"simple", "advanced", "preferred:SJF", "preferred:FCFS"}
	measures = []string{"ART", "ARTwA", "ARTwW", "SLD", sldwa, "SLDwW", "makespan"}
)

// dynpWay is a way to compare plans: how large a part two values may differ by and be
// equal, or one list for all policies.
type dynpWay struct {
	name, equal string
	shared      bool
}

// exactWay compares exactly.
var exactWay, sharedWay = dynpWay{"exact", "0", false}, dynpWay{"one list", "0", true}

// dynpWays are those that are held against the paper.
var dynpWays = []dynpWay{
	exactWay,
	{"0.0001", "0.0001", false},
	{"0.001", "0.001", false},
	{"0.003", "0.003", false},
	{"0.01", "0.01", false},
	{"0.03", "0.03", false},
	{"0.1", "0.1", false},
	{"0.3", "0.3", false},
	{"1", "1", false},
	sharedWay,
}

func basic(trace, policy string) Run {
	return Run{Trace: trace, Policies: policy, Decider: "advanced", Metric: sldwa, Equal: "0"}
}

func (w dynpWay) run(trace, decider, metric string, half bool) Run {
	return Run{
		Trace: trace, Policies: allThree, Decider: decider, Metric: metric, Equal: w.equal, Half: half,
		Shared: w.shared,
	}
}

// runs returns those of tables 3 and 4 on a trace.
func (w dynpWay) runs(trace string) []Run {
	var all []Run
	for _, m := range measures {
		all = append(all, w.run(trace, "advanced", m, false))
	}
	for _, d := range deciders {
		for _, half := range []bool{true, false} {
			if r := w.run(trace, d, sldwa, half); !slices.Contains(all, r) {
				all = append(all, r)
			}
		}
	}
	return all
}

// Runs returns the runs that a report about these traces is made of. Quick ones
// leave out most tolerances.
func Runs(traces []Trace, quick bool) []Run {
	var all []Run
	for _, t := range traces {
		for _, p := range basics {
			all = append(all, basic(t.Name, p))
		}
		for _, w := range dynpWays {
			if !quick || w == exactWay || w == sharedWay {
				all = append(all, w.runs(t.Name)...)
			}
		}
	}
	return all
}

// What the paper has: A. Streit, "Enhancements to the Decision Process of the
// Self-Tuning dynP Scheduler", JSSPP 2004, tables 2 to 6.

// paperBasics is table 2: SLDwA of FCFS, SJF, LJF.
var paperBasics = map[string][]float64{
	"CTC": {2.0455, 1.9277, 2.5212}, "KTH": {3.1015, 2.5488, 5.8118}, "SDSC": {6.8260, 12.5662, 26.8207},
}

// paperMetrics is table 3: SLDwA by metric, in the order of measures.
var paperMetrics = map[string][]float64{
	"CTC":  {2.0073, 2.2866, 1.8781, 1.9585, 1.8781, 1.9021, 2.4583},
	"KTH":  {3.1459, 5.6542, 2.5754, 2.6939, 2.5754, 2.5594, 5.3823},
	"SDSC": {14.6495, 20.5247, 10.1598, 12.6742, 10.1598, 11.8321, 24.8958},
}

// paperUtilization is the lower half of table 3, in percent.
var paperUtilization = map[string][]float64{
	"CTC":  {65.701, 65.701, 65.701, 65.701, 65.701, 65.701, 65.701},
	"KTH":  {68.716, 68.716, 68.716, 68.716, 68.716, 68.716, 68.716},
	"SDSC": {81.787, 81.812, 81.633, 81.762, 81.633, 81.309, 82.473},
}

// paperDeciders is table 4: SLDwA of each of the deciders, half and full.
var paperDeciders = map[string][][2]float64{
	"CTC":  {{2.3036, 2.2812}, {1.9085, 1.8781}, {1.8567, 1.8873}, {2.3270, 2.2804}},
	"KTH":  {{4.7256, 5.7433}, {2.5812, 2.5754}, {2.5734, 2.5578}, {4.9281, 5.7492}},
	"SDSC": {{13.3353, 32.6934}, {10.0953, 10.1598}, {10.2896, 10.5198}, {16.1766, 32.6965}},
}

// paperTie is what is known of table 5, of SDSC with full self-tuning: the share of
// steps in which FCFS and SJF were the best and SJF was active, by decider.
var paperTie = map[string]float64{"simple": 0.4256, "advanced": 0.7511}

// paperSwitches is table 6: parts of the steps that switched to each
// policy, and of the jobs that were started by it.
var paperSwitches = map[string]struct{ switches, started [3]float64 }{
	"simple":   {[3]float64{0.4337, 0.4317, 0.0036}, [3]float64{0.5906, 0.3954, 0.0140}},
	"advanced": {[3]float64{0.0101, 0.0090, 0.0101}, [3]float64{0.0609, 0.7932, 0.1459}},
}

// paperTrace is the trace of tables 5 and 6.
const paperTrace = "SDSC"
