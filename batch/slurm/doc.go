// Package slurm makes a site's batch system of Slurm, unmodified, used through its
// commands.
//
//	Do ────────▶ wishes ──▶ here ──sbatch──▶ Slurm ◀── other people's jobs
//	                ▲       (a queue)           │
//	Watch ◀── attempts ◀── compare ◀── squeue ──┤  one for each interval
//	                ▲                  squeue -j┤  what has left the queue
//	Estimate ◀── model         Witness ─────────┘  what attempts have written
//
// # Wishes
//
// Do only notes what is wanted: an attempt is to run, to be held, to be gone. It
// waits for nobody. What waits here, because as many jobs as may be are in Slurm's
// queue or because the controller does not answer, is changed at once. For what is
// in Slurm the commands follow, many jobs with one of them, and the next look at the
// queue says what has come of it. A wish that is not fulfilled is asked for again.
//
// # Looks
//
// One squeue for each interval shows everybody's jobs, however many. A look that is
// slow, or fails, makes the next one later. While Slurm does not answer nothing is
// concluded from that, and nothing is submitted: the site is unknown, not dead.
//
// # Identity
//
// The name and the comment of a job say which attempt it is. Numbers of Slurm's are
// used again when a controller has lost its state, so that a number alone is never
// believed. A submission without an answer is looked for, by two looks that began
// well after it, before it is made again. If it turns up later after all, the second
// of the two jobs is cancelled.
//
// # Once
//
// An attempt's script has to claim the attempt before it runs anything (Witness).
// So it runs once, whatever Slurm does: runs a job twice, finds again one that it
// had lost, starts one that was handed over to another site. Before an attempt that
// Slurm has lost is said to have never run, the claim is taken from it.
//
//	Slurm says             and the attempt has        it ended as
//	COMPLETED, FAILED      written its end            it has written
//	TIMEOUT                begun                      killed at its walltime
//	CANCELLED                                         cancelled, by us or by others
//	CANCELLED, with nodes      not begun              never ran: Slurm could not launch it
//	NODE_FAIL              begun                      lost, once it has stopped: it is told
//	                                                  to, and waited for
//	PREEMPTED              begun                      lost: it may be made again if it
//	                                                  is declared restartable
//	OUT_OF_MEMORY          begun                      failed
//	anything               not claimed                never ran; the claim is taken
//	that it waits again    begun                      lost, and taken out of the queue
//	how a second start     begun                      lost, unless it has written its end
//	has ended
//	nothing                written its end            it has written
//	nothing                begun                      lost, as with NODE_FAIL
//
// What ended with exit code 0 is done, whatever came after it.
//
// # Estimates
//
// The last look becomes a model: jobs that run, those that wait in order of
// priority, those that wait here, on as many processors as there are, under a policy
// that decides much as Slurm does. The forecaster runs it on time limits. A job that
// Slurm plans to start a good deal later than the model would waits for something
// that the model does not know of, and is believed to start then. The model stands
// still until the next look, but for what is ordered meanwhile; its age is told with
// each estimate.
//
// Time limits are whole minutes to Slurm, rounded up, and so they are to the model.
//
// # What Slurm cannot do
//
// A reserved job has no place in Slurm's queue: it waits here. A job that is given
// another shape is taken out and submitted anew, as scripts are told their width
// when they are submitted. One that is placed as the last one keeps the place that
// its age gives it, unless it waits here or gets another shape.
package slurm
