package chart

import (
	"bytes"
	"fmt"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// The page, in points: 17 cm wide, as the text of an A4 page.
const (
	pageWidth  vg.Length = 482
	pageHeight vg.Length = 290
	margin     vg.Length = 8
	pngDots              = 192 // per inch
)

// Chart is something that can be drawn.
type Chart interface {
	page() (*page, error)
}

// SVG returns the chart as a scalable picture.
func SVG(c Chart) ([]byte, error) {
	p, err := c.page()
	if err != nil {
		return nil, fmt.Errorf("chart: %w", err)
	}
	canvas := vgsvg.New(pageWidth, pageHeight)
	p.draw(draw.New(canvas))
	var out bytes.Buffer
	if _, err := canvas.WriteTo(&out); err != nil {
		return nil, fmt.Errorf("chart: %w", err)
	}
	named := "font-family:" + family + ";"
	return bytes.ReplaceAll(out.Bytes(), []byte(named), []byte("font-family:'"+family+"',Arial,Helvetica,sans-serif;")), nil
}

// PNG returns the chart as pixels.
func PNG(c Chart) ([]byte, error) {
	p, err := c.page()
	if err != nil {
		return nil, fmt.Errorf("chart: %w", err)
	}
	canvas := vgimg.NewWith(vgimg.UseWH(pageWidth, pageHeight), vgimg.UseDPI(pngDots))
	p.draw(draw.New(canvas))
	var out bytes.Buffer
	if _, err := (vgimg.PngCanvas{Canvas: canvas}).WriteTo(&out); err != nil {
		return nil, fmt.Errorf("chart: %w", err)
	}
	return out.Bytes(), nil
}
