// Package scenarios is the scenarios that come with Drover, those of the paper on
// reallocation as far as they can be had.
//
//	pwa             half a year of three logs: HPC2N, CTC, SDSC-SP2
//	m1 ... m6       its months
//	pwa640          its jobs on machines of the sizes that the paper had
//	g5k1 ... g5k6   the paper's platform with its numbers of jobs, made by a model
//
// They are YAML files like those that users write, and a good place to start from.
//
// Source: Y. Caniou, G. Charrier, F. Desprez, "Evaluation of Reallocation
// Heuristics for Moldable Tasks in Computational Grids", AusPDC 2011, section 4.
package scenarios
