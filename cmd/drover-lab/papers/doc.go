// Package papers holds our experiments against those of a paper: it makes the
// paper's figures of the rows of a campaign, and says of each claim whether it
// holds.
//
//	results.csv ──Read──▶ Rows ──Reallocation──▶ Report ──Write──▶ figure-06.svg .png
//	(campaigns)             │                      │               figure-06.csv .md ...
//	                      Plan                     │               question-*.svg .png ...
//	     which experiments are to be there         └──▶ Markdown   report.md, report.json
//
// A report is a function of its rows and its plan: the same bytes come out,
// pictures too. Rows that lack are an error that names them, unless the report may
// be partial; then every figure says so.
//
// # Words
//
//   - row: an experiment, compared with the run of the same jobs and seed without
//     reallocation (its reference, which is no row)
//   - couple: an algorithm with a heuristic, by the paper's names: MCT-reg,
//     MinMin-reg, MCT-can, MinMin-can
//   - way: a couple with all its settings. Settings that make no difference are
//     left out of comparisons: a window under MCT, a patience under regular, a
//     threshold under all-cancellation
//   - claim: a sentence of the paper about its results, in our words, with a test on
//     rows that says whether it holds. What words like "most" or "close" are taken
//     for is fixed beside the claims
//   - question: something that the paper left open. Its variants are compared on the
//     same jobs and seeds, by the response time of all jobs: the paper's own figure
//     is about the impacted jobs, which are others under each way
//
// Why a claim differs nobody can compute; why.yaml says it.
//
// # dynP
//
// The tables of the paper on self-tuning dynP are made of runs of one cluster, which
// DynPRuns names and the caller makes: DynP holds them against the paper's.
//
// # DFRS
//
// The tables and figures of the paper on fractional scheduling are made of the rows of
// package fractional. What the paper has as numbers is in dfrs/table-*.csv; why rows and
// claims are not as there a person writes into dfrs/why.yaml. A cell is of all instances
// that there are rows of, or blank: means over other instances cannot be compared.
//
// # Convergent scheduling
//
// Table 1 and figures 3 to 8 of the paper on convergent scheduling are made of the rows of
// package farm. Algorithms are compared on the seeds that both have; why claims differ is in
// convergent/why.yaml.
//
// Sources: Y. Caniou, G. Charrier, F. Desprez, "Evaluation of Reallocation
// Heuristics for Moldable Tasks in Computational Grids", AusPDC 2011, sections 4.4
// to 6; A. Streit, "Enhancements to the Decision Process of the Self-Tuning dynP
// Scheduler", JSSPP 2004, tables 2 to 6; M. Stillwell, F. Vivien, H. Casanova, "Dynamic
// Fractional Resource Scheduling vs. Batch Scheduling", 2011, section 6 and appendix A;
// G. Capannini, R. Baraglia, D. Puppini, L. Ricci, M. Pasquali, "A Job Scheduling Framework
// for Large Computing Farms", SC07, section 6.
package papers
