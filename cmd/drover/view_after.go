package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-9b8f70bb/drover/client"
)

// afterView is a job that another one comes after.
type afterView struct {
	Job string `json:"job"`
	Any bool   `json:"any,omitempty"`
}

// afterOf tells which jobs one comes after, a line each.
func afterOf(j *client.Job) []string {
	var lines []string
	for i, d := range j.After {
		if i == mostNamed {
			lines = append(lines, fmt.Sprintf("and %d more", len(j.After)-i))
			break
		}
		text := d.Job
		if d.Any {
			text += ", however it ends"
		}
		if slices.Contains(j.Awaits, d.Job) {
			text += " (awaited)"
		}
		lines = append(lines, text)
	}
	return lines
}

// awaitsOf tells what a job waits for.
func awaitsOf(j *client.Job) string {
	if len(j.Awaits) == 1 {
		return "waits for " + j.Awaits[0]
	}
	return "waits for " + plural(len(j.Awaits), "job")
}

// namesOf names jobs, not more than anybody reads.
func namesOf(ids []string) string {
	if len(ids) > mostNamed {
		return strings.Join(ids[:mostNamed], " ") + fmt.Sprintf(" and %d more", len(ids)-mostNamed)
	}
	return strings.Join(ids, " ")
}

// retriesOf tells how often a job is started once more when it fails, "" for never.
func retriesOf(j *client.Job) string {
	if j.Retries == 0 {
		return ""
	}
	text := fmt.Sprintf("%d of %d", j.Retried, j.Retries)
	var codes []string
	for _, code := range j.RetryOn {
		codes = append(codes, strconv.Itoa(code))
	}
	if len(codes) > 0 {
		text += ", after exit code " + strings.Join(codes, ", ")
	}
	return text
}
