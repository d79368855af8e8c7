// Package runtimes keeps how long jobs ran in parts of what their users had
// estimated, for policies that plan with less (or more) than the estimate.
//
//	ended jobs: owner, application, estimate, runtime
//	   │
//	   ├─▶ by owner and application ┐
//	   ├─▶ by owner                 ├─ the last 256 ratios of each ─▶ Distribution
//	   └─▶ by application           ┘
//
// One who asks gets the finest distribution that has enough samples: of the owner
// with this application, else of the owner, else of the application, else none.
//
// A ratio is runtime over estimate, fixed point with 20 binary digits, rounded up:
// a job is never taken for shorter than it was. Of each key the newest samples are
// kept and all are in order, so a quantile has no error but that of what has been
// forgotten. The keys are limited, too: when there are too many, the eighth goes that
// has been silent for longest. With the limits of Default, 256 samples of at most 4096
// keys of each of three kinds, memory stays below 25 MiB.
//
// A History is a function of what it was told, in order. It is not safe for
// concurrent use; a fork of it is independent.
//
// Source: G. Birkenheuer, M. Hovestadt, O. Kao, K. Voss, "Overbooking in Planning
// Based Scheduling Systems", section 3.1.1.
package runtimes
