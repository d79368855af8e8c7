package catalogue

import (
	"encoding/json"
	"math"
	"testing"
	"unicode/utf8"
)

// roundTrip encodes a value as JSON and decodes it.
func roundTrip(t *testing.T, v Value) Value {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var read Value
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return read
}

// alike reports whether two values are equal to the last bit.
func alike(a, b Value) bool {
	bits := math.Float64bits(a.real) == math.Float64bits(b.real)
	a.real, b.real = 0, 0
	return bits && a == b
}

func TestJSONRoundTripKeepsValues(t *testing.T) {
	for _, v := range []Value{
		{},
		Int(0), Int(math.MaxInt64), Int(math.MinInt64), Bool(false), Bool(true), String(""), String("a\"\n\x00 <ü>"),
		Text(""), Text("3"),
		Float(0), Float(math.Copysign(0,
			-1)), Float(0.1), Float(math.MaxFloat64), Float(math.SmallestNonzeroFloat64), Float(math.Inf(1)),
		Float(math.Inf(-1)),
		FileIn(File{}), FileIn(File{SHA256: "ab", Size: math.MaxInt64, Name: "x"}),
		block(Float64, 3), block(Complex128, 0, math.MaxInt64), block(0, 1),
		Array(File{SHA256: "ab", Size: 3, Name: "x"},
			Layout{Element: Uint8, Dims: []int64{3, 1}}),
	} {
		if got := roundTrip(t, v); !alike(got, v) {
			t.Errorf("%v %q came back as %v %q", v.Type(), v, got.Type(), got)
		}
	}
	if got := roundTrip(t, Float(math.NaN())); got.Type() != TypeFloat || !math.IsNaN(got.Float()) {
		t.Errorf("NaN came back as %v", got)
	}
}

// The fingerprint of a request is computed from this JSON.
func TestValuesOfDifferentTypesHaveDifferentJSON(t *testing.T) {
	seen := make(map[string]Value)
	for _, v := range []Value{
		{},
		Int(3), Float(3), String("3"), Text("3"), Bool(true), FileIn(File{Name: "3"}),
		String(""), Text(""), Int(0), Bool(false), FileIn(File{}), block(Float64, 3), block(Float64, 3, 0), block(Int64,
			3), block(0, 3),
	} {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if other, twice := seen[string(text)]; twice {
			t.Errorf("%v %q and %v %q are both %s", v.Type(), v, other.Type(), other, text)
		}
		seen[string(text)] = v
	}
}

func TestUnmarshalRefusesInvalidValues(t *testing.T) {
	for _, text := range []string{
		`3`, `"a"`, `[]`, `{"int":"3"}`, `{"int":1.5}`, `{"int":9223372036854775808}`,
		`{"float":3}`, `{"float":"x"}`, `{"float":""}`, `{"bool":1}`, `{"file":3}`, `{"array":{}}`,
		`{"array":{"element":"float64","dims":[]}}`, `{"array":{"element":"float64","dims":[1,2,3]}}`,
		`{"array":{"element":"float16","dims":[1]}}`, `{`,
	} {
		var v Value
		if err := json.Unmarshal([]byte(text), &v); err == nil {
			t.Errorf("%s decoded to %v %q", text, v.Type(), v)
		}
	}
}

func FuzzValueJSON(f *testing.F) {
	for _, text := range []string{
		`{}`, `null`, `{"int":3}`, `{"float":"-0"}`, `{"float":"0x1p-2"}`, `{"string":"a"}`,
		`{"bool":true}`, `{"text":""}`, `{"file":{"sha256":"ab","size":3,"name":"x"}}`, `{"int":1,"bool":true}`,
		`{"array":{"sha256":"ab","element":"int32","dims":[1,2]}}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var v Value
		if json.Unmarshal(text, &v) != nil || !utf8.ValidString(v.text) || math.IsNaN(v.real) {
			return
		}
		if got := roundTrip(t, v); !alike(got, v) {
			t.Errorf("%s: %v %q came back as %v %q", text, v.Type(), v, got.Type(), got)
		}
	})
}
