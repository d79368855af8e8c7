package batch

import (
	"errors"
	"fmt"
	"sort"
	"strings"
)

// Settings are a policy's options as the user wrote them: --set key=value, or the
// settings map of a site's configuration.
type Settings map[string]string

// SettingError is a setting that a policy refuses.
type SettingError struct {
	Policy   string
	Key      string
	Value    string
	Accepted string // the range, or the known keys
}

// Error names the key, the value and the accepted values.
func (e *SettingError) Error() string {
	if e.Value == "" {
		return fmt.Sprintf("policy %s: unknown setting %q, accepted: %s", e.Policy, e.Key, e.Accepted)
	}
	return fmt.Sprintf("policy %s: setting %s: %q, accepted: %s", e.Policy, e.Key, e.Value, e.Accepted)
}

// SettingErrors returns the setting errors in an error of a policy's constructor.
func SettingErrors(err error) []*SettingError {
	var all []*SettingError
	if joined, is := err.(interface{ Unwrap() []error }); is {
		for _, e := range joined.Unwrap() {
			all = append(all, SettingErrors(e)...)
		}
		return all
	}
	if e, is := errors.AsType[*SettingError](err); is {
		all = append(all, e)
	}
	return all
}

// Only returns an error for each key of s that is not among known.
func (s Settings) Only(policy string, known ...string) error {
	keys := make([]string, 0, len(s))
	for k := range s {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	var all []error
	for _, k := range keys {
		found := false
		for _, name := range known {
			found = found || name == k
		}
		if !found {
			accepted := strings.Join(known, ", ")
			if accepted == "" {
				accepted = "no settings"
			}
			all = append(all, &SettingError{Policy: policy, Key: k, Accepted: accepted})
		}
	}
	return errors.Join(all...)
}
