package dynp

import "slices"

// DynPTrace is a trace of the dynP paper, as it is to be had now.
type Trace struct {
	Name, File string
	Procs      int64
	About      string // what it has to do with the paper's
}

// DynPTraces are those of the paper but for LANL, which has no file here.
var Traces = []Trace{
	{"KTH", "KTH-SP2-1996-2.swf.gz", 100, "the paper's, but for one of its 28,490 jobs"},
	{"CTC", "CTC-SP2-1996-3.1-cln.swf.gz", 430, "cleaned; the paper's has 79,302 jobs"},
	{"SDSC", "SDSC-SP2-1998-4.2-cln.swf.gz", 128, "cleaned; the paper's has 67,620 jobs that run"},
}

// DynPRun is one run of dynP: a trace and settings, as drover sim run --set has
// them.
type Run struct {
	Trace                            string
	Policies, Decider, Metric, Equal string
	Half, Shared                     bool
}

// DynPFigures are what came of a run.
type Figures struct {
	Jobs        int
	SLDwA       float64
	Utilization float64
	Steps       int
	Policies    []Policy
	Cases       []Case
}

// DynPPolicy is what one policy did in a run.
type Policy struct {
	Name              string
	Switches, Started int
}

// DynPCase is how often these were the best while one was active.
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
	return Run{Trace: trace, Policies: allThree, Decider: decider, Metric: metric, Equal: w.equal, Half: half, Shared: w.shared}
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

// DynPRuns returns the runs that a report about these traces is made of. Quick ones
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
