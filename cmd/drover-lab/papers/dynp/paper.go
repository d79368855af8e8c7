package dynp

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

// paperSwitches is table 6, likewise: parts of the steps that switched to each
// policy, and of the jobs that were started by it.
var paperSwitches = map[string]struct{ switches, started [3]float64 }{
	"simple":   {[3]float64{0.4337, 0.4317, 0.0036}, [3]float64{0.5906, 0.3954, 0.0140}},
	"advanced": {[3]float64{0.0101, 0.0090, 0.0101}, [3]float64{0.0609, 0.7932, 0.1459}},
}

// paperTraces is that of tables 5 and 6.
const paperTrace = "SDSC"
