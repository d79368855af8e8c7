package farm

// Points are the values of the Job-Machine matrix, in units of 2^-20. It is an alias:
// pre-matching and matching work on plain slices of int64.
type Points = int64

// Point is one point as the paper counts them.
const Point Points = 1 << 20

// Ceiling is the most that one heuristic adds to one entry: 2 million points. Eight
// heuristics then stay below 2^44, and the sum of a matching of 2^18 machines below 2^62.
const Ceiling Points = 1 << 41
