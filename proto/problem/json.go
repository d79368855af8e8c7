package problem

import (
	"encoding/json"
	"strconv"
	"time"
)

// MarshalJSON returns the JSON of an ErrorDetail, as the HTTP API returns it: fields
// without a value are left out, and durations are "4s".
func (p *Problem) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Reason    Reason `json:"reason,omitempty"`
		Field     string `json:"field,omitempty"`
		Accepted  string `json:"accepted,omitempty"`
		Message   string `json:"message,omitempty"`
		Hint      string `json:"hint,omitempty"`
		Retryable bool   `json:"retryable,omitempty"`
		Offer     *Offer `json:"offer,omitempty"`
	}{p.Reason, p.Field, p.Accepted, p.Message, p.Hint, p.Retryable, p.Offer})
}

// MarshalJSON returns the JSON of a drover.v1.Offer.
func (o *Offer) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Site       string `json:"site,omitempty"`
		Wait       string `json:"wait"`
		Completion string `json:"completion"`
		Width      int32  `json:"width,omitempty"`
	}{o.Site, seconds(o.Wait), seconds(o.Completion), o.Width})
}

// seconds returns a duration as protobuf's JSON has it: with no fraction, or one of 3,
// 6 or 9 digits.
func seconds(d time.Duration) string {
	digits := 9
	for _, n := range []struct {
		unit   time.Duration
		digits int
	}{{time.Second, 0}, {time.Millisecond, 3}, {time.Microsecond, 6}} {
		if d%n.unit == 0 {
			digits = n.digits
			break
		}
	}
	sign, whole, rest := "", d/time.Second, d%time.Second
	if d < 0 {
		sign, whole, rest = "-", -whole, -rest
	}
	text := sign + strconv.FormatInt(int64(whole), 10)
	if digits > 0 {
		fraction := strconv.FormatInt(int64(rest+time.Second), 10)[1:]
		text += "." + fraction[:digits]
	}
	return text + "s"
}
