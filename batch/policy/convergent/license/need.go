package license

// Need is a number of copies of a license that a job holds while it runs.
type Need struct {
	License int32 // index, from 0
	Copies  int32 // at least 1
}
