// Package external drives a batch system that Drover does not implement, through
// the commands that its users have. A package such as batch/slurm supplies the
// commands as a Cluster; everything else is here.
//
//	Do ──────▶ desired states ──▶ local queue ──Submit──▶ cluster ◀── local users' jobs
//	                 ▲                                       │
//	Watch ◀── attempts ◀── compare ◀── List ─────────────────┤  once per interval
//	                 ▲                 Lookup, History ──────┤  attempts that left the queue
//	Estimate ◀── model                 AttemptFiles ─────────┘  what attempts recorded themselves
//
// # Desired states
//
// Do records the state that each attempt should have: run, reserved, held or
// cancelled. It never waits for the cluster. An attempt still in the local queue
// changes at once. For an attempt in the cluster the control loop sends batched
// commands, and the next poll shows their effect. A command without effect is
// repeated after retryAfter.
//
// # Polls
//
// One List per interval shows the jobs of all users. A slow or failed poll delays
// the next one. While the cluster does not answer, the System draws no conclusions
// and submits nothing: the state of the site is unknown, which is not the same as
// gone.
//
// # Identity
//
// A job's name and comment say which attempt it is. The cluster can reuse job IDs
// after its controller lost state, so an ID alone identifies nothing. When the answer
// to a submission is lost, two later polls look for the job before it is submitted
// again. If the first job shows up after all, one of the two is cancelled.
//
// # Claims
//
// The script of an attempt claims the attempt's file before it runs anything (see
// AttemptFiles). The attempt therefore runs at most once, even if the cluster starts
// it twice, rediscovers it after losing it, or starts it after it moved to another
// site. Before the System reports that a lost attempt never ran, it takes the claim
// itself.
//
//	cluster says               attempt            outcome
//	completed, failed          recorded its end   as recorded
//	time limit                 started            killed at its walltime
//	cancelled                  any                cancelled, by Drover or by another user
//	cancelled, nodes assigned  not started        never ran: the cluster could not launch it
//	node failure               started            lost, after it stopped or StopTimeout passed
//	preempted                  started            lost: a restartable job gets a new attempt
//	out of memory              started            failed
//	any                        not claimed        never ran; the System takes the claim
//	waiting again              started            lost, and cancelled in the cluster
//	end of a second start      started            lost, unless it recorded its end
//	nothing                    recorded its end   as recorded
//	nothing                    started            lost, as after a node failure
//
// An attempt that recorded exit code 0 is done, whatever happened afterwards.
//
// # Estimates
//
// Each poll becomes a model: the jobs that run, the jobs that wait by priority, and the
// local queue, on the usable processors, under a policy close to the cluster's. The
// forecaster runs the model forward on time limits. If the cluster plans to start a
// job much later than the model does, the job waits for something that the model does
// not contain; the model then uses the cluster's start. Between polls the model's clock
// stands still and only Drover's own commands change it. Each estimate carries the age
// of its poll.
//
// # Limits of external systems
//
// A reserved job waits in the local queue: the cluster does not know it. A job that
// changes its shape is cancelled and submitted again, because its script depends on
// its width. A job placed last keeps the priority of its age, unless it is still in
// the local queue or changes its shape.
//
// # Adding a batch system
//
// Implement Cluster in a package of its own and run externaltest.Run on it. Then add an
// entry to the table in server/external_kinds.go.
package external
