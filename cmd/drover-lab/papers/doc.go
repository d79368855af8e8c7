// Package papers is the frame in which Drover's experiments are compared with a paper's:
// claims with checks, tables, pictures, and a report of them.
//
//	rows ──▶ a paper's package ──┬─ Check(claims, study, why) ──▶ Result ─┐
//	                             └─ Section: chart, table ────────────────┴─▶ Report ──▶ figure-06.svg .png
//	                                                                            │        figure-06.csv .md
//	                                                                            └─────▶  report.md, report.json,
//	                                                                                     a page of docs/reproduction
//
// Each paper has a package below: reallocation, dynp, overbooking, dfrs, convergent. Its
// experiments are in packages below that one. Package chart draws, package rows keeps the
// rows of an experiment in a folder.
//
// # Words
//
//   - claim: a sentence of a paper about its results, in our words, with a check that
//     says whether it holds. The numbers that stand for words like "most" or "close" are
//     fixed beside the claims.
//   - study: what a paper's package makes of its rows; claims are checked on it
//   - why-file: YAML, in which people write why a claim differs
//
// A report is a function of its rows: the same bytes come out, pictures too.
package papers
