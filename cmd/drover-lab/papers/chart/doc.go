// Package chart draws measurements: box plots, and lines over logarithmic axes.
// A chart is the same bytes whenever it is drawn from the same values, as SVG and
// as PNG.
//
//	title
//	note: which values these are
//	▇ first series  ▇ second series           the legend is never over the data
//	y axis (unit)
//	  │   ┬
//	  │  ┌┴┐    ┬
//	  │  │◇│   ┌┴┐
//	  │  ├─┤   ├◇┤     box: quartiles, median; whiskers: least and greatest;
//	  │  └┬┘   └┬┘     diamond: mean
//	  │   ┴     ┴
//	  └──────────────
//	     first group     x axis
//
// Series differ in lightness, distinct in gray, too, and stand in the same order in each group and in the legend.
//
// # Quartiles
//
// The quantile p of n sorted values x[0]..x[n-1] is taken at position p(n-1), and
// between two values by linear interpolation: definition 7 of R. J. Hyndman and
// Y. Fan, "Sample quantiles in statistical packages", The American Statistician
// 50(4), 1996; the default of R and NumPy.
//
// # Fonts
//
// Text is measured with the Liberation fonts, which the program carries. An SVG
// names them and, behind them, Arial and Helvetica, which have the same widths.
package chart
