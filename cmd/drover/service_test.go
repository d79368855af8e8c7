package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-9b8f70bb/drover/agent"
	"github.com/seed-9b8f70bb/drover/server"
	"github.com/seed-9b8f70bb/drover/server/catalogue"
)

func TestBundledCatalogueEqualsTheExample(t *testing.T) {
	c, err := catalogue.Load(bytes.NewReader(bundledYAML), "bundled services")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"gemm", "lu", "mandelbrot", "primes", "sleep"} {
		if _, err := c.Service(name); err != nil {
			t.Error(err)
		}
	}
	example, err := os.ReadFile("../../docs/examples/services.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(example, bundledYAML) {
		t.Error("docs/examples/services.yaml differs from cmd/drover/services.yaml")
	}
}

func TestExampleConfigurationsAreValid(t *testing.T) {
	if _, err := agent.ReadConfig("../../docs/examples/agent.yaml"); err != nil {
		t.Error(err)
	}
	sites, err := filepath.Glob("../../docs/examples/site*.yaml")
	if err != nil || len(sites) < 2 {
		t.Fatalf("%d sites, %v", len(sites), err)
	}
	for _, path := range sites {
		if _, err := server.ReadConfig(path); err != nil {
			t.Error(err)
		}
	}
}
