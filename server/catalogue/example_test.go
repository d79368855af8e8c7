package catalogue_test

import (
	"fmt"
	"strings"

	"github.com/seed-9b8f70bb/drover/server/catalogue"
)

func Example() {
	file := `
version: 1
services:
  - name: sum
    doc: Adds up numbers.
    args:
      - {name: n, type: int, min: 1, max: 1000000}
      - {name: label, type: string, default: total}
    command: [sum, "--n={n}", "--threads={width}", "{label}"]
    walltime: {factor: 1}
    model:
      amdahl: {work: n / 1000, parallel: 0.9, limit: 3}
`
	c, err := catalogue.Load(strings.NewReader(file), "catalogue.yaml")
	if err != nil {
		fmt.Println(err)
		return
	}
	s, _ := c.Service("sum")
	v, _ := s.Bind(map[string]catalogue.Value{"n": catalogue.Int(100_000), "label": catalogue.String("a b")})
	shapes, _ := s.Shapes(v, catalogue.Want{}, 8, catalogue.Reference)
	fmt.Println(shapes)
	fmt.Printf("%q\n", s.Args(v, catalogue.Launch{Shape: shapes[1]}))
	_, err = s.Bind(map[string]catalogue.Value{"n": catalogue.Text("many")})
	fmt.Println(err)
	// Output:
	// [1x1m40s 2x55s 3x40s]
	// ["sum" "--n=100000" "--threads=2" "a b"]
	// service sum: argument n: got "many", accepted: an integer, 1 to 1000000
}
