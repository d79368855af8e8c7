// Package droverv1 is the wire format of Drover: the messages and services of
// the protobuf package drover.v1. All but this file is generated.
//
//	client ── Map ──────────────▶ agent ── Estimate ──▶ server of every site
//	client ◀─ targets, decision ── agent ◀─── Quote ──── that has the service
//	client ── Submit, WatchJob, ReadLogs, … ───────────▶ the chosen server
//
// Durations that look ahead count from the instant at which the sender
// answers, never from an agreed time: clocks differ. Sizes are bytes. A message
// of a type that may refuse carries an [ErrorDetail]; so does every error of a
// call.
//
// Only the RPC faces of the drivers (files named rpc*.go) use these types.
package droverv1
