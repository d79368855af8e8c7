// Package matrixmarket reads and writes matrices in the exchange format of
// NIST's Matrix Market (Boisvert, Pozo, Remington: The Matrix Market Exchange
// Formats: Initial Design, NISTIR 5935, 1996).
//
//	%%MatrixMarket matrix coordinate real symmetric   header: format field symmetry
//	% any number of comments
//	3 3 4                                             rows columns entries
//	1 1  2.0                                          row column value, counted from 1
//	2 1 -1.0                                          symmetric: the lower triangle only
//	2 2  2.0
//	3 3  1.5
//
// The format is coordinate (sparse, above) or array (dense: "rows columns",
// then one value a line, column by column). Fields: real, integer, pattern
// (positions without values). Symmetries: general, symmetric, skew-symmetric.
// Complex and Hermitian matrices are refused.
//
// Files are untrusted, so Read has limits: it checks sizes against Limits before it
// allocates, and memory grows with the lines that it reads, not with the sizes in the
// header. Every error in the text is a *ParseError with line and field.
package matrixmarket
