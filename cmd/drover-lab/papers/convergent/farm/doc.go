// Package farm runs the experiments of the paper on convergent scheduling: a farm of
// unlike machines, a stream of jobs with deadlines and licenses, one algorithm, one row
// of figures.
//
//	Case ─▶ Model ─▶ Generate ─▶ Instance ─▶ policy "convergent" on batch/engine
//	 │                                          │            │
//	 │                                        meter       knapsack: the greedy and the
//	 └────────────── Row, Cost ◀────────────────┴────────────┘ exact one, side by side
//
// A Row is a function of its Case, the same on every machine. What depends on the
// machine, seconds, is its Cost: rows and costs are kept in files of their own.
//
// # Words
//
//   - unit: the paper's simulator time unit. It is a second here.
//   - late: a job with a deadline that ends after it. Hopeless: no machine that can run
//     it would have made it, even at once and alone.
//   - slowdown: (Tw + Te) / Te, where Te is the time a job spends on machines and Tw the
//     time it waits to start or to continue. Of jobs without a deadline.
//   - machine usage: the mean over time of machines that run a job, over the smaller of
//     all machines and the jobs in the system; while there are jobs.
//   - license usage: the same of copies in use, over those that could be: of each license
//     the smaller of its copies and the jobs in the system that ask for it.
//   - workload: the number of jobs in the system, waiting or running.
//   - plan: all that the policy does at one instant.
//
// # How section 6 is read where it leaves something open
//
//   - Every value is drawn evenly from the whole numbers of its range; times between
//     submissions are exponential. Each seed draws other machines, too. One
//     seed has the same machines and jobs at every inter-arrival time, with longer gaps.
//   - "Deadline [25-150]" is percent of the estimate, beyond it: see Reading.
//   - "License ratio [55%-65%], percentage of the number of machines on which a license
//     can be used": a license has so many copies as are that part of the machines that
//     can run it, rounded down, and at least one.
//   - "License suitability 90%": each machine can run each license with that chance.
//     "License needed by a job 20%": each job asks for one copy of each license with that
//     chance. A job that no machine can run gets other licenses: the paper's simulations
//     end when all jobs are done.
//   - "Benchmark [200-600]" is the score of each machine, and of the machine that a job's
//     estimate was made on. Estimates are exact: a job takes Estimated times its score
//     over the machine's.
//   - "Number of CPUs [1-8]" is what a machine has and what a job needs of one.
//   - "Input [100-800]" is in MB, and lies on a machine drawn evenly.
//   - The bandwidth is not given. Where all links are alike it cancels out of the input
//     heuristic, so it matters only if moving data takes time. The paper's simulation
//     steps move none, and its network is a fast one: here, too, moving takes no time,
//     unless Case.Rate says otherwise. Then a job that starts or continues elsewhere than
//     where its input lies first holds its machine for Input over Rate.
//
// With these, machines could do a job every 11.7 units if all of them were always busy:
// the paper says that its workload no longer grows from 12 units on.
//
// # Source
//
// Capannini, Baraglia, Puppini, Ricci, Pasquali: A Job Scheduling Framework for Large
// Computing Farms, SC07, section 6.
package farm
