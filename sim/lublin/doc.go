// Package lublin generates workloads by the model of Lublin and Feitelson: rigid jobs as on
// three parallel machines of the 1990s.
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
// The parts of the model:
//
//   - width: a job is serial, has a power of two, or any width. The logarithm of a
//     parallel width comes from one of two adjoining uniforms.
//   - runtime: its logarithm comes from one of two gammas. The probability of the gamma
//     for short jobs falls with the width.
//   - arrivals: the logarithm of the gap to the next job is gamma. Gaps are in *even
//     time*, in which the arrival rate is constant. The *cycle* converts it to clock
//     time; even time passes fast in the afternoon and slowly in the early morning. A day
//     has the same length in both.
//   - classes: the model has parameters for all jobs, and others for batch and
//     interactive jobs, which are two streams merged by arrival.
//
// # Machines of other sizes
//
// The constants were fitted for a machine of 128 processors. The authors tie the widest job to
// the machine, and the point between the two uniforms to the widest job; so does this package
// (see fit). Rounding to a power of two can give a width beyond a machine of another size; such
// a width is redrawn. The mixture of the runtimes depends on the width itself and not on its
// share of the machine: above 144 processors all undivided jobs are of the longer kind.
//
// # Load
//
// The offered load is the sum of width times runtime over processors times the last arrival,
// the authors' definition. To get a requested load, all gaps are multiplied by one factor in
// even time, before the cycle. This scales the times between arrivals, and the day keeps its 24
// hours. Multiplying the arrival times themselves would stretch the cycle too.
//
// # What the model leaves out
//
// Users are drawn uniformly, if at all. Requested times are the runtimes, or longer by a
// factor: see [Estimates]. Memory, groups and dependencies are unknown.
//
// # The same bytes everywhere
//
// A workload depends only on its [Config]. The package uses only +, -, *, / and the square
// root, which IEEE 754 defines to the last bit, and its own exponential and logarithm, because
// those of the standard library differ between processors. A product in a sum is converted
// explicitly, which keeps the compiler from fusing the two operations. Random numbers are bits
// of a PCG; the package uses no distribution of math/rand.
//
// # Source
//
// U. Lublin, D. G. Feitelson, "The workload on parallel supercomputers: modeling
// the characteristics of rigid jobs", JPDC 63(11), 2003, and the constants of
// the program the authors published with it. Sampling of gammas: G. Marsaglia,
// W. W. Tsang, "A simple method for generating gamma variables", ACM TOMS 26(3),
// 2000.
package lublin
