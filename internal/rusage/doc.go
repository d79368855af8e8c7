// Package rusage measures the processor time and memory of processes. It counts on
// Linux; elsewhere memory is 0.
package rusage
