// Package reallocation decides which waiting jobs change sites. It is a core: it
// asks and orders, and a driver, live or simulated, answers and carries out.
//
//	           Ask: when would these jobs be completed at these sites?
//	         ◀─────────────────────────────────────────────────────────
//	driver     Hold: take these out of the plans                          Round
//	         ─────────────────────────────────────────────────────────▶
//	           Move: this one there.   Put: this one there, as the last
//	           Back: this one to where it was
//
// A Round yields Steps; the driver fills in the answers and goes on:
//
//	for step := range round.Steps() {
//		switch step.Kind { ... }
//	}
//
// # Algorithms
//
// Regular takes the waiting jobs one by one, as a heuristic picks them. A job
// whose best estimated completion time (ECT) elsewhere beats the one it has by the
// threshold is moved. All-cancellation holds all waiting jobs, picks them one by
// one and puts each where its ECT is least, tuned anew, also those that stay. One
// that no site takes, as where its own drains, goes back to its place.
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
// Ties go to the job that was submitted first; of equal sites a job takes the one
// where it is, then the first. A job that one site alone can take suffers most. A
// least gain, under all-cancellation, is added to the ECTs elsewhere.
//
// # Fewer questions
//
// A round asks many things at once, and again only where a plan has changed since. A
// site that got a job completes none earlier for it, so what it said before is a lower
// bound: MinMin and the gains keep jobs in a heap by such bounds and ask again only
// about what comes to its top, twice as much each time until a job is found. MaxMin
// and Sufferage look for the greatest, which bounds from below do not give, and ask
// again about the jobs whose best (or second best) site has changed. MCT compares no
// jobs, and asks about some ahead, as many as plans then stay the same for.
//
// A site that a job has left may complete any other earlier, so it is asked again about
// all that are compared. (Not only from the place on that is free now: there may have
// been room before it that nobody had looked for.)
//
// Where a driver says which jobs are alike but for their size, MinMin need not ask
// about one as long as a lesser one waits: of each kind only the least are asked about.
//
//	kind  jobs by size                asked about: ■
//	w=1   ■ □ □ □ □ □ □ □ □           the answers about ■ bound those about □
//	w=2   ■ □ □ □ □
//	w=8   ■ ■ □ □ □ □ □ □             the second one, because the first might tie
//
// All this picks as if everybody were asked each time. Where estimates are no promises
// (EASY, binary tuning) a fuller site may answer earlier, and a round may then pick
// otherwise.
//
// MaxMin under all-cancellation asks about the greatest of each kind alone. Nothing
// bounds a sufferage, or a gain by what is alike: there each job is asked about, and
// under Sufferage again after each pick if one of its two best sites has changed.
//
// # Growth
//
// Seconds of one processor (drover-lab rounds, its sites and their answers included;
// AMD EPYC) for a round over all that wait, and millions of estimates:
//
//	                       all-cancellation          regular
//	sites    jobs          MCT           MinMin      MCT           MinMin
//	   30   1 000    0.007 0.04     0.03  0.05     0.01 0.04    0.04  0.1
//	   30  10 000     0.15 0.37     0.43  0.55      3.5 0.36     4.6  3.2
//	  300   1 000     0.06 0.35     0.15  0.14     0.06 0.34     0.13 0.16
//	  300  10 000     0.61 3.7      0.82  0.72     0.68 3.5      0.97 1.5
//	  300 100 000       14  37       8.5   5.9
//
// MCT asks all sites about each job about once: jobs × sites. MinMin asks as many only
// when it is not told who is alike. If it is, its estimates grow with the jobs, and
// hardly with the sites; most of its time is its own. The rest is what sites take to
// change their plans: in a regular round each move lets a whole queue move up, which
// grows with the square of the jobs at a site.
//
// Not told who is alike, 10,000 jobs at 100 sites cost MinMin 10 million estimates and
// 8 s under all-cancellation (MCT: 1.2 million, 0.45 s), and 31 million and 19 s in a
// regular round (1.2 million, 0.76 s): each move has about all asked again at the site
// that was left. MaxMin, Sufferage and the gains cost as much in a regular round, and
// Sufferage under all-cancellation.
//
// An answer takes 8 bytes, and only what is compared has any: 100,000 jobs at 300
// sites take 46 MB under MinMin if it is told who is alike; all of them would be 240.
//
// The time of the heuristic itself is the driver's to measure: that of the round less
// that of the steps, see package cmd/drover-lab/growth.
//
// # Starvation
//
// Under all-cancellation a job may be put back later in each round: by jobs that
// the heuristic prefers, or by local users', who move up while it is held. A job
// put back later than it was more than Patience times is not held any more, and
// keeps what it has been promised.
//
// Source: Y. Caniou, G. Charrier, F. Desprez, "Evaluation of Reallocation
// Heuristics for Moldable Tasks in Computational Grids", AusPDC 2011; the other
// four heuristics are those of their study of rigid jobs (Cluster 2010), where
// Sufferage, MinMin and MaxMin are Maheswaran's and others' (JPDC 59, 1999).
package reallocation
