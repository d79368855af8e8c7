// Package rounds is the agent's core of reallocation: it computes a round on drafts,
// decides which agent runs rounds and when, and remembers what former rounds did to jobs.
// It has no clock, no I/O and no goroutine.
//
// A draft is a what-if copy of a site's plan, made for one round. Compute applies the
// steps of package reallocation to drafts, so nothing is held and nothing moves while
// questions travel:
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
// The result is a list of Choices in the order of the decisions. The driver orders them,
// or only shows them. A server that carries out an order checks the job's epoch, and makes
// a regular move only if it still brings the minimum gain. So an outdated choice has no
// effect.
//
// Edits are sent with the next questions, which saves a fifth to half of the calls. The
// round continues as if each edit succeeds, and learns later if it did not. That is rare,
// because the draft has just answered that the job fits. The choice is then dropped. Later
// choices were computed as if it held; servers check them like all others.
//
// The driver says which jobs are alike: their requests get the same answers everywhere. A
// round that compares jobs then asks about one job of each kind at a time.
//
// A site that does not answer, or has lost its draft, is left out of the round: no
// job moves there, and its jobs stay.
//
// Terms and source are those of package reallocation.
package rounds
