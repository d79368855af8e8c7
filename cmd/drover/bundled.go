package main

import (
	"bytes"
	_ "embed" // of the catalogue
	"fmt"

	"github.com/seed-9b8f70bb/drover/server/catalogue"
)

// bundledYAML is the catalogue of the services that come with Drover, the same
// as docs/examples/services.yaml.
//
//go:embed services.yaml
var bundledYAML []byte

// bundledCatalogue returns the services that come with Drover.
func bundledCatalogue() (*catalogue.Catalogue, error) {
	c, err := catalogue.Load(bytes.NewReader(bundledYAML), "bundled services")
	if err != nil {
		return nil, fmt.Errorf("bundled services: %w", err)
	}
	return c, nil
}
