package lublin

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Estimates select how requested times are generated; the model does not define them. The zero
// value is exact: the requested time is the runtime. Simulators use the authors' own output in
// this way, and it adds no assumption. No request is shorter than its runtime, so no job is
// killed.
type Estimates struct {
	Kind Estimate
	// Factor is 1 to MaxFactor; Exact ignores it.
	Factor float64
}

// Estimate is a kind of requested time.
type Estimate uint8

// Kinds of requested times.
const (
	Exact   Estimate = iota // the runtime
	Factor                  // the runtime times Factor, rounded up
	Uniform                 // the runtime times a uniform number from 1 to Factor, drawn per job, rounded up
)

// MaxFactor is the maximum of Estimates.Factor.
const MaxFactor = 1000

const acceptedEstimates = "exact, factor:F, uniform:F, with F 1..1000"

// ParseEstimates parses "exact", "factor:F" or "uniform:F". The error is a [*FieldError].
func ParseEstimates(s string) (Estimates, error) {
	if s == "exact" {
		return Estimates{}, nil
	}
	name, value, _ := strings.Cut(s, ":")
	factor, err := strconv.ParseFloat(value, 64)
	e := Estimates{Factor: factor}
	switch name {
	case "factor":
		e.Kind = Factor
	case "uniform":
		e.Kind = Uniform
	}
	if err != nil || e.Kind == Exact || e.validate() != nil {
		return Estimates{}, &FieldError{Field: "estimates", Value: strconv.Quote(s), Accepted: acceptedEstimates}
	}
	return e, nil
}

// String returns the text that [ParseEstimates] parses.
func (e Estimates) String() string {
	switch e.Kind {
	case Exact:
		return "exact"
	case Factor:
		return "factor:" + decimal(e.Factor)
	case Uniform:
		return "uniform:" + decimal(e.Factor)
	}
	return fmt.Sprintf("Estimate(%d)", uint8(e.Kind))
}

func (e Estimates) validate() error {
	if e.Kind == Exact || e.Kind <= Uniform && e.Factor >= 1 && e.Factor <= MaxFactor {
		return nil
	}
	return &FieldError{Field: "estimates", Value: e.String(), Accepted: acceptedEstimates}
}

// request returns the requested time for a runtime, both in seconds. u is in [0, 1).
func (e Estimates) request(run int64, u float64) int64 {
	factor := 1.
	switch e.Kind {
	case Exact:
		return run
	case Factor:
		factor = e.Factor
	case Uniform:
		factor += float64(u * (e.Factor - 1))
	}
	// 1.1 times 100 is slightly above 110 in binary, but 110 is meant.
	return int64(math.Ceil(float64(float64(run)*factor) - 1e-6))
}
