package files

// The output streams of a job, which are also the names of their files.
const (
	Stdout = "stdout"
	Stderr = "stderr"
)

// Logs selects what to read of a job's output stream.
type Logs struct {
	Job    string
	Stream string // Stdout or Stderr
	Offset int64  // bytes
	Follow bool   // continue until the job has ended
}

// Piece is a part of a file.
type Piece struct {
	Data   []byte // valid until the next piece
	Offset int64  // of Data in the file, bytes
	Size   int64  // of the whole file, 0 if unknown
}
