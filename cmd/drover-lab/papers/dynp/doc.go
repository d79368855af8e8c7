// Package dynp compares runs of one cluster with the tables of the paper on self-tuning
// dynP. Runs names the runs; the caller makes them; NewReport sets them beside the paper's.
//
// Source: A. Streit, "Enhancements to the Decision Process of the Self-Tuning dynP
// Scheduler", JSSPP 2004, tables 2 to 6.
package dynp
