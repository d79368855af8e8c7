// Package policy is the table of the scheduling policies: adding one is a folder below
// this one and a line in table.go.
//
// An Entry holds all that other packages have to know about a policy beyond the contract
// batch.Policy: how to make it, what help texts say about it, and traits by which drivers
// differ. No other package asks for a policy by its name.
//
//	sim, server ── Of(name) ──▶ Entry: Queue, Reserves, Shares, Machines
//	            ── New(name, platform, settings) ──▶ batch.Policy
//	server/site ── NewEdge(name, platform).Check(job) ──▶ *NeedError
//	server      ── ReportOf(name, policy) ──▶ Report
package policy
