// Package profile.
package profile
