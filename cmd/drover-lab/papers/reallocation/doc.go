// Package reallocation compares our experiments with the paper on reallocation: figures 6
// to 13, its claims, and what it left open.
//
//	results.csv ──Read──▶ Rows ──┬──▶ NewReport ──▶ figures, claims, answers
//	(campaigns)                Plan: the experiments that must be there
//
// Missing rows are an error that names them, unless the report can be partial; then every
// figure says how many are missing.
//
// # Words
//
//   - row: an experiment, compared with the run of the same jobs and seed without
//     reallocation (its reference, which is not a row)
//   - couple: an algorithm with a heuristic, by the paper's names: MCT-reg, MinMin-reg,
//     MCT-can, MinMin-can
//   - way: a couple with all its settings. Comparisons leave out settings that make no
//     difference: a window under MCT, a patience under regular, a threshold under
//     all-cancellation.
//   - question: something that the paper left open. Its variants are compared on the same
//     jobs and seeds, by the response time of all jobs: the paper's own figure is about
//     the impacted jobs, and each way impacts others.
//
// Source: Y. Caniou, G. Charrier, F. Desprez, "Evaluation of Reallocation Heuristics for
// Moldable Tasks in Computational Grids", AusPDC 2011, sections 4.4 to 6.
package reallocation
