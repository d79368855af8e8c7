// Package farm is the model under convergent scheduling: machines of unequal power,
// licenses, jobs with deadlines, and the Job-Machine matrix that says how well each
// job would be placed on each machine.
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
// What a heuristic gives a job on all of its machines alike is kept in the row's Base,
// what differs by machine in its Cells. So a pass after one event touches the cells of
// few rows: ageing moves all entries of all jobs, and is one addition a row.
//
// A State is made by the caller and only read here. Its jobs are in order of submission,
// which is how a Matrix finds the rows it kept from the last pass.
//
// Nothing but whole numbers comes out: points are counted in units of 2^-20.
//
// Source: Capannini, Baraglia, Puppini, Ricci, Pasquali: A Job Scheduling Framework for
// Large Computing Farms, SC07, sections 3 and 4.
package farm
