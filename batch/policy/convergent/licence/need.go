package licence

// Need is a number of copies of a licence that a job holds while it runs.
type Need struct {
	Licence int32 // index, from 0
	Copies  int32 // at least 1
}
