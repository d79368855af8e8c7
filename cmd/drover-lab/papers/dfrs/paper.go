package dfrs

import (
	"embed"
	"encoding/csv"
	"fmt"
	"strconv"
)

// dfrsPaper are tables 2 to 5 of M. Stillwell, F. Vivien, H. Casanova, "Dynamic
// fractional resource scheduling vs. batch scheduling", with the names of algorithms
// as Drover prints them. Of its figures only what its text says is known.
//
//go:embed table-*.csv
var dfrsPaper embed.FS

// paperLine is a row of a table of the paper.
type paperLine struct {
	algorithm string
	v         []float64
}

// stat is the three numbers from column i on.
func (l *paperLine) stat(i int) stat { return stat{l.v[i], l.v[i+1], l.v[i+2]} }

var (
	paperTable2 = paperTableOf(2)
	paperTable3 = paperTableOf(3)
	paperTable4 = paperTableOf(4)
	paperTable5 = paperTableOf(5)
)

// paperTableOf reads what is compiled in: an error would be a bug of ours.
func paperTableOf(number int) []paperLine {
	f, err := dfrsPaper.Open(fmt.Sprintf("table-%d.csv", number))
	if err != nil {
		panic(err)
	}
	records, err := csv.NewReader(f).ReadAll()
	if err != nil {
		panic(err)
	}
	var lines []paperLine
	for _, record := range records[1:] {
		l := paperLine{algorithm: record[0]}
		for _, field := range record[1:] {
			v, err := strconv.ParseFloat(field, 64)
			if err != nil {
				panic(err)
			}
			l.v = append(l.v, v)
		}
		lines = append(lines, l)
	}
	return lines
}

// algorithmsOf returns the names of a table's algorithms.
func algorithmsOf(lines []paperLine) []string {
	var all []string
	for i := range lines {
		all = append(all, lines[i].algorithm)
	}
	return all
}
