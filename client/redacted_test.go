package client

import (
	"strings"
	"testing"
)

func TestAPasswordInAURLIsNotShown(t *testing.T) {
	for url, want := range map[string]string{
		"http://h:1":                 "http://h:1",
		"http://u:secret@h:1/p":      "http://***@h:1/p",
		"http://secret@h":            "http://***@h",
		"https://u:sec@ret@h/a":      "https://***@h/a",
		"http://u:sec/ret@h":         "http://***@h",
		"u:secret@h":                 "***@h",
		"ftp://u:secret@":            "ftp://***@",
		"//u:secret@h?q=x":           "//***@h?q=x",
		"http://h/a":                 "http://h/a",
		"http://u:se\x00cret@h:port": "http://***@h:port",
		"":                           "",
	} {
		if got := Redacted(url); got != want {
			t.Errorf("%q: %q, want %q", url, got, want)
		}
	}
	_, err := New(Default("https://u:secret@h"))
	if err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("the configuration: %v", err)
	}
	c, err := New(Config{Agents: []string{"http://u:secret@127.0.0.1:1"}, CallTimeout: DefaultCallTimeout})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Sites(t.Context()); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("no answer: %v", err)
	}
	if _, err := NewDirect("ftp://u:secret@h", Default()); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("a server: %v", err)
	}
}
