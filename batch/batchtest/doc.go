// Package batchtest tests policies by scripts.
//
// A script is a file: a machine, events, a line of dashes, and the expected schedule as
// text. Run plays the script through the engine, under a ledger that checks every
// decision against the machine, and compares. With -rewrite it writes the resulting
// schedule instead; read it before you commit it.
//
//	processors 4
//	0 submit 1 3x5 runs 4      job 1: 3 processors, 5 s; it ends after 4
//	1 submit 2 4x2
//	----
//	1  #1 0-4
//	2  #2 4-6
//
//	   0    5
//	 4 .   22
//	 3 1111 …
//
// Times are in seconds. Commands, after the instant:
//
//	submit ID WxD [runs R] [from T] [mem M]   queue a job; it runs for D or R
//	       [by T]                             agreed to end by then; 0: whenever it ends
//	       [into ID]                          in that reservation
//	reserve ID WxD [runs R]                   an incoming job
//	adopt ID WxD since T [runs R] [mem M]     a job that runs since T, for R or D from then on
//	window ID WxD from T                      an advance reservation
//	confirm ID, cancel ID, hold ID
//	place ID WxD [restore]                    put back, last or at its old position
//	fail ID                                   its next launch fails
//	down NODE, up NODE
//	estimate WxD WxD … [from T]               print the starts of these shapes
//	         [by T] [into ID]                 of jobs as above
//	         [window T]                       of reservations from then on, all as long as the first
package batchtest
