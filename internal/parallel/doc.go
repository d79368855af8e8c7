// Package parallel does the same to many items, several at a time.
package parallel
