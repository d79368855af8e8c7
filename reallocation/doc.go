// Package reallocation decides which waiting jobs change sites. It is a core: it asks and
// orders, and a live or simulated driver answers and carries out the orders.
//
//	           Ask: when would these jobs be completed at these sites?
//	         ◀─────────────────────────────────────────────────────────
//	driver     Hold: take these out of the plans                          Round
//	         ─────────────────────────────────────────────────────────▶
//	           Move: this one there.   Put: this one there, as the last
//	           Back: this one to where it was
//
// A Round yields Steps, and the driver fills in the answers:
//
//	for step := range round.Steps() {
//		switch step.Kind { ... }
//	}
//
// # Algorithms
//
// Regular takes the waiting jobs one by one, as a heuristic picks them. It moves a job if
// its best estimated completion time (ECT) at another site beats its present one by the
// threshold. All-cancellation holds all waiting jobs, picks them one by one and puts each
// at the site with the smallest ECT, with a newly chosen shape, even if it stays. A job
// that no site takes, for example because its own site drains, returns to its slot.
//
// # Heuristics
//
//	MCT         in order of submission
//	MinMin      the least best ECT first
//	MaxMin      the greatest best ECT first
//	Sufferage   the greatest second best less best ECT first
//	MaxGain     the greatest gain first: the ECT before the round less the best one
//	MaxRelGain  the greatest gain for each processor that the job has now
//
// Ties go to the job that was submitted first. Among equal sites a job prefers its own,
// then the first one. A job that only one site can take has the largest sufferage. Under
// all-cancellation, LeastGain is added to the ECTs at other sites.
//
// # Fewer questions
//
// A round asks many questions at once, and repeats one only if the plan has changed since.
// A site that got a job completes no other job earlier because of it, so its old answers
// are lower bounds. MinMin and the gains keep jobs in a heap by such bounds and ask again
// only about the top of the heap, twice as many questions each time until a job is found.
// MaxMin and Sufferage look for a maximum, for which lower bounds do not help, and ask
// again about the jobs with a changed best (or second best) site. MCT compares no jobs.
// It asks ahead about as many jobs as the plans are likely to stay the same for.
//
// A site that a job has left can complete any other job earlier, so it is asked again
// about all compared jobs. (Not only about slots after the freed one: the plan can have
// had gaps before it that no job was tried in.)
//
// If a driver says which jobs are alike except for their size, MinMin need not ask about a
// job while a smaller one of its kind waits: it asks only about the smallest of each kind.
//
//	kind  jobs by size                asked about: ■
//	w=1   ■ □ □ □ □ □ □ □ □           the answers about ■ bound those about □
//	w=2   ■ □ □ □ □
//	w=8   ■ ■ □ □ □ □ □ □             the second one, because the first might tie
//
// The result is the same as if all sites were asked each time. If estimates are not
// promises (EASY, binary tuning), a fuller site can answer with an earlier time, and then
// a round can pick differently.
//
// MaxMin under all-cancellation asks only about the largest of each kind. Jobs that are
// alike do not bound each other's sufferage or gain, so there each job is asked about, and
// under Sufferage again after each pick if one of its two best sites has changed.
//
// # Growth
//
// Seconds of one processor (drover-lab rounds, including the sites and their answers; AMD
// EPYC) for a round over all waiting jobs, and millions of estimates:
//
//	                       all-cancellation          regular
//	sites    jobs          MCT           MinMin      MCT           MinMin
//	   30   1 000    0.007 0.04     0.03  0.05     0.01 0.04    0.04  0.1
//	   30  10 000     0.15 0.37     0.43  0.55      3.5 0.36     4.6  3.2
//	  300   1 000     0.06 0.35     0.15  0.14     0.06 0.34     0.13 0.16
//	  300  10 000     0.61 3.7      0.82  0.72     0.68 3.5      0.97 1.5
//	  300 100 000       14  37       8.5   5.9
//
// MCT asks all sites about each job about once: jobs × sites. MinMin asks as many
// questions only if it does not know which jobs are alike. If it does, its estimates grow
// with the jobs and hardly with the sites, and most of the time is its own. The rest is
// the time in which sites change their plans: in a regular round each move lets a whole
// queue move up, which grows with the square of the jobs at a site.
//
// Without that knowledge, 10,000 jobs at 100 sites cost MinMin 10 million estimates and 8
// s under all-cancellation (MCT: 1.2 million, 0.45 s), and 31 million and 19 s in a
// regular round (MCT: 1.2 million, 0.76 s): after each move, nearly all jobs are asked
// about again at the site that was left. MaxMin, Sufferage and the gains cost as much in a
// regular round, and Sufferage under all-cancellation too.
//
// An answer takes 8 bytes, and only compared jobs have answers: 100,000 jobs at 300 sites
// take 46 MB under MinMin if it knows which jobs are alike, instead of 240 MB.
//
// The driver measures the time of the heuristic itself: that of the round less that of the
// steps, see package cmd/drover-lab/growth.
//
// # Starvation
//
// Under all-cancellation each round can delay a job: because the heuristic prefers other
// jobs, or because jobs of local users move up while it is held. A job that rounds have
// delayed more than Patience times is no longer held and keeps its slot.
//
// Source: Y. Caniou, G. Charrier, F. Desprez, "Evaluation of Reallocation Heuristics for
// Moldable Tasks in Computational Grids", AusPDC 2011; the other four heuristics are those
// of their study of rigid jobs (Cluster 2010). Sufferage, MinMin and MaxMin are by
// Maheswaran et al. (JPDC 59, 1999).
package reallocation
