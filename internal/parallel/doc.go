// Package parallel processes many items concurrently.
package parallel
