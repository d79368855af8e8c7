// Package dfrs compares our experiments with the paper on dynamic fractional resource
// scheduling: its tables and figures, and its claims.
//
//	package fractional ──▶ rows ──▶ study: cells ──▶ NewReport
//	package bound (the bound of a workload)
//
// The paper's numbers are in table-*.csv. why.yaml has the reasons for rows and claims
// that differ. A cell has all instances of its set, or it is blank: means over other
// instances cannot be compared.
//
// Source: M. Stillwell, F. Vivien, H. Casanova, "Dynamic Fractional Resource Scheduling
// vs. Batch Scheduling", 2011, section 6 and appendix A.
package dfrs
