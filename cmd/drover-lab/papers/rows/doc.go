// Package rows keeps lines of text in a folder, so that what was cut off goes on.
//
//	Open ── locks DIR ──▶ Dir ─┬─ Lines   a file to which whole lines are added
//	                           └─ Replace a file that is there whole or not at all
//
// It knows nothing of what the lines say: experiments of package sim's neighbours do.
package rows
