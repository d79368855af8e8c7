// Package farm is the model under convergent scheduling: machines of unequal power,
// licenses, jobs with deadlines, and the Job-Machine matrix, which rates each job on each
// machine.
//
//	             machine 0   machine 1   machine 2
//	job 0           3.2         2.9          ·        ·  not eligible: an entry of 0
//	job 1            ·          7.1         6.8
//	job 2           1.0         1.0         1.4
//
//	row of job 1:   Base 5.0  +  Cells  ·  2.1  1.8     Columns 1 2
//
// Heuristics (package heuristic) add points to the rows, pre-matching clears the rows
// of jobs that do not get their licenses, and matching picks at most one entry of each
// row and column. A machine runs one job at a time.
//
// The row's Base holds points that are the same on all machines of a job, its Cells those
// that differ. A pass after one event therefore touches the cells of few rows: aging, which
// changes all entries of all jobs, is one addition per row.
//
// The caller makes a State; this package only reads it. Its jobs are in order of
// submission, by which a Matrix finds the rows of the last pass.
//
// All points are integers in units of 2^-20.
//
// Source: Capannini, Baraglia, Puppini, Ricci, Pasquali: A Job Scheduling Framework for
// Large Computing Farms, SC07, sections 3 and 4.
package farm
