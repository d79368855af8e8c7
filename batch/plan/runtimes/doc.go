// Package runtimes keeps the ratios of runtimes to users' estimates, for policies that
// plan with less (or more) than the estimate.
//
//	ended jobs: owner, application, estimate, runtime
//	   │
//	   ├─▶ by owner and application ┐
//	   ├─▶ by owner                 ├─ the last 256 ratios of each ─▶ Distribution
//	   └─▶ by application           ┘
//
// A query gets the finest distribution with enough samples: of the owner with this
// application, else of the owner, else of the application, else none.
//
// A ratio is runtime over estimate in fixed point with 20 binary digits, rounded up,
// so a job never counts as shorter than it was. Each key keeps its newest samples,
// sorted, so quantiles of these are exact. The number of keys is limited too: beyond
// the limit the eighth of the keys that is unused for longest is dropped. With the
// limits of Default, 256 samples of at most 4096 keys of each of three kinds, memory
// stays below 25 MiB.
//
// A History is a function of its inputs in order. It is not safe for concurrent use; a
// fork of it is independent.
//
// Source: G. Birkenheuer, M. Hovestadt, O. Kao, K. Voss, "Overbooking in Planning
// Based Scheduling Systems", section 3.1.1.
package runtimes
