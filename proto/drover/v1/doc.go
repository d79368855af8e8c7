// Package droverv1 is the wire format of Drover: the messages and services of
// the protobuf package drover.v1. All but this file is generated.
//
//	client ── Map ──────────────▶ agent ── Estimate ──▶ server of every site
//	client ◀─ targets, decision ── agent ◀─── Quote ──── that has the service
//	client ── Submit, WatchJob, ReadLogs, … ───────────▶ the chosen server
//
// Durations into the future count from the instant of the answer, because clocks
// differ. Sizes are bytes. Every error of a call carries an [ErrorDetail].
//
// Only packages named rpc use these types, and tests.
package droverv1
