package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/seed-9b8f70bb/drover/client"
)

// kindOfData says for people how large data are, and what.
func kindOfData(d *client.Data) string {
	if d.Element == "" {
		return bytesOf(d.Size)
	}
	var dims []string
	for _, n := range d.Dimensions {
		dims = append(dims, fmt.Sprint(n))
	}
	return fmt.Sprintf("%s of %s, %s", strings.Join(dims, " x "), d.Element, bytesOf(d.Size))
}

// noteOfData tells what is special about data.
func noteOfData(d *client.Data) string {
	var notes []string
	if d.Copy {
		notes = append(notes, "a copy")
	}
	if d.Job != "" {
		notes = append(notes, "of job "+d.Job)
	}
	return strings.Join(notes, ", ")
}

// usageOf tells how much of a site's room for data is taken.
func usageOf(u client.DataUsage) string {
	if u.Quota == 0 {
		return "none are kept here"
	}
	text := fmt.Sprintf("%s, %s of %s", plural(u.Handles, "handle"), bytesOf(u.Used), bytesOf(u.Quota))
	if u.OwnerQuota > 0 {
		text += fmt.Sprintf(" (%s for each owner)", bytesOf(u.OwnerQuota))
	}
	if u.Evicted > 0 {
		text += fmt.Sprintf("; %d had to make room", u.Evicted)
	}
	return text
}

type dataView struct {
	Schema     string          `json:"schema,omitempty"`
	ID         string          `json:"id"`
	Name       string          `json:"name,omitempty"`
	Size       int64           `json:"size"`
	SHA256     string          `json:"sha256"`
	Element    string          `json:"element,omitempty"`
	Dimensions []int64         `json:"dimensions,omitempty"`
	Mode       client.DataMode `json:"mode"`
	Owner      string          `json:"owner,omitempty"`
	Site       string          `json:"site"`
	Copy       bool            `json:"copy,omitempty"`
	Put        *time.Time      `json:"put_at,omitempty"`
	Used       *time.Time      `json:"used_at,omitempty"`
	Job        string          `json:"job,omitempty"`
}

type dataListView struct {
	Schema  string        `json:"schema"`
	Data    []dataView    `json:"data"`
	Missing []missingView `json:"missing"`
}

type removedView struct {
	Schema string   `json:"schema"`
	ID     string   `json:"id"`
	Sites  []string `json:"sites"`
}

func dataViewOf(d *client.Data) dataView {
	return dataView{
		ID: d.ID, Name: d.Name, Size: d.Size, SHA256: d.SHA256, Element: string(d.Element), Dimensions: d.Dimensions, Mode: d.Mode,
		Owner: d.Owner, Site: d.Site, Copy: d.Copy, Put: instant(d.Put), Used: instant(d.Used), Job: d.Job,
	}
}

// dataUsageView is how much of a site's room for data is taken, bytes.
type dataUsageView struct {
	Handles    int   `json:"handles"`
	Used       int64 `json:"used"`
	Quota      int64 `json:"quota"`
	OwnerQuota int64 `json:"owner_quota,omitempty"`
	Evicted    int64 `json:"evicted,omitempty"`
}

func dataUsageViewOf(u client.DataUsage) *dataUsageView {
	if u == (client.DataUsage{}) {
		return nil
	}
	return &dataUsageView{Handles: u.Handles, Used: u.Used, Quota: u.Quota, OwnerQuota: u.OwnerQuota, Evicted: u.Evicted}
}
