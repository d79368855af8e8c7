// Package lublin makes workloads by the model of Lublin and Feitelson: rigid
// jobs as they came to three parallel machines of the 1990s.
//
//	             one generator, seeded
//	   ┌───────────────┼──────────────────┐
//	arrival          width             runtime
//	exp(gamma),      1, a power of 2,  exp(one of two gammas):
//	then the cycle   or any, by two    the wider, the more often
//	of the day       uniforms          the longer one
//	   └───────────────┼──────────────────┘
//	                 job ──▶ load scaled ──▶ *swf.Trace
//
// The parts, each in a file of its own:
//
//   - width: a job is serial, has a power of two, or any width. The logarithm
//     of a parallel one is drawn from one of two uniforms that adjoin.
//   - runtime: its logarithm is drawn from one of two gammas. The probability of
//     the one for short jobs falls with the width.
//   - arrivals: the logarithm of the gap to the next job is gamma. These gaps
//     pass in *even time*, in which jobs come at one rate all day; the *cycle*
//     turns it into clock time, where even time passes fast in the afternoon and
//     slowly in the early morning. A day of one is a day of the other.
//   - classes: the model has parameters for all jobs, and others for batch and
//     interactive jobs, which then are two streams, merged by arrival.
//
// # Machines of other sizes
//
// The constants were fitted with a machine of 128 processors in mind. The
// authors tie the widest job to the machine, and the point between the two
// uniforms to the widest job; so do we (see fit). A width beyond the machine,
// which rounding to a power of two can give if the machine is none, is drawn
// again. The mixture of the runtimes depends on the width itself and not on its
// share of the machine: above 144 processors all undivided jobs are of the longer
// kind.
//
// # Load
//
// The offered load is the sum of width times runtime over processors times the
// last arrival, the authors' own definition. To get the load that is asked for,
// all gaps are multiplied by one factor in even time, before the cycle. So what
// is scaled are the times between arrivals, and the day still has 24 hours.
// Multiplying the arrival times themselves would stretch the cycle, too.
//
// # What the model does not tell
//
// Users and requested times. Users, if any, are drawn uniformly; requested times
// are the runtimes or longer by a factor: see [Estimates]. Memory, groups and
// dependencies are left unknown.
//
// # The same bytes everywhere
//
// A workload is a function of its [Config]. The package computes with +, -, *, /
// and the square root only, which IEEE 754 defines to the last bit, and has its
// own exponential and logarithm, for those of the standard library differ
// between processors. A product that is added to something is converted
// explicitly, which keeps a compiler from fusing the two. Random numbers are
// bits of a PCG, nothing of math/rand above it.
//
// # Source
//
// U. Lublin, D. G. Feitelson, "The workload on parallel supercomputers: modeling
// the characteristics of rigid jobs", JPDC 63(11), 2003, and the constants of
// the program the authors published with it. Sampling of gammas: G. Marsaglia,
// W. W. Tsang, "A simple method for generating gamma variables", ACM TOMS 26(3),
// 2000.
package lublin
