package main

import _ "embed" // of the catalogue

// bundledYAML is the catalogue of the services that come with Drover, the same
// as docs/examples/services.yaml.
//
//go:embed services.yaml
var bundledYAML []byte
