// Package overbooking reports what overbooking is worth on real logs: what is accepted,
// broken and earned, by what is sold. The paper has no figures on real logs. Package sla
// below makes the rows.
//
// Source: G. Birkenheuer, M. Hovestadt, O. Kao, K. Voss, "Overbooking in Planning Based
// Scheduling Systems".
package overbooking
