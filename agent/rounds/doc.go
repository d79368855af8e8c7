// Package rounds is the agent's core of reallocation: it computes a round on
// drafts, says which agent runs rounds and when, and keeps what former rounds have
// done to jobs. It has no clock, no I/O and no goroutine.
//
// A draft is a site's copy of its plan, made for one round. Compute gives the steps
// of package reallocation to drafts, so that nothing is held and nothing moves
// while questions travel:
//
//	reallocation.Round      Compute                        drafts, one a site
//	   (nothing yet)    ──────────────▶ begin ──────────▶  a copy of the plan
//	   Ask              ──────────────▶ questions ──────▶  all sites at once
//	   Hold             ──────────────▶ take out ───────▶  at the jobs' sites
//	   Move             ──────────────▶ take out, put ──▶  at both sites
//	   Put              ──────────────▶ put ────────────▶  at the one site
//	   Back                             (nothing)
//	   (the end)        ──────────────▶ end ────────────▶  thrown away
//
// What comes out are Choices, in the order in which they were made. The driver
// orders them, or only shows them. Whoever carries out an order looks anew at the
// job's epoch, and a regular move is made only if it still brings the gain that
// the round demanded, so that a choice that has become wrong meanwhile comes to
// nothing.
//
// Edits wait for the next questions, which saves a fifth to half of the calls. So the round goes on as
// if each was carried out, and hears later if it was not; that is rare, because the
// draft has just said that the job can be there. The choice is then dropped; those
// after it were computed as if it held, and are looked at anew like all others.
//
// The driver says which jobs are alike: those whose requests get the same answers
// everywhere. A round that compares jobs then asks about one of each kind at a time.
//
// A site that does not answer, or has lost its draft, is left out of the round:
// nothing goes there, and its jobs stay where they are.
//
// The words are those of package reallocation; so is the source.
package rounds
