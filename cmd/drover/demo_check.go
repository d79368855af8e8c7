package main

import (
	"bytes"
	"context"
	"fmt"
	"image/png"
	"math"
	"os"
	"path/filepath"

	"github.com/seed-9b8f70bb/drover/client"
	"github.com/seed-9b8f70bb/drover/server/services/matrixmarket"
)

// worstResidual is the largest relative residual that passes; a good solution
// has about 1e-16.
const worstResidual = 1e-12

// checkResults downloads what the jobs wrote and looks whether it is right. With
// a directory, the first solution and the largest picture are kept there.
func checkResults(ctx context.Context, grid *client.Client, b *demoBoard, dir string) (demoChecksView, error) {
	var v demoChecksView
	var solution, picture []byte
	for n, j := range b.jobs {
		output := map[string]string{"lu": "solution", "mandelbrot": "image"}[j.Service]
		if j.State != client.Done {
			v.Problems = append(v.Problems, fmt.Sprintf("job %d, %s at %s: %s (%s)", n+1, j.Service, j.Site, j.State, j.Outcome.Reason))
			continue
		}
		if output == "" {
			continue
		}
		var file bytes.Buffer
		err := grid.Download(ctx, j.ID, output, &file)
		switch {
		case err != nil && ctx.Err() != nil:
			return v, err
		case err == nil && j.Service == "lu":
			err = v.solution(b.stream[n].values["matrix"].([]byte), file.Bytes())
			if solution == nil {
				solution = file.Bytes()
			}
		case err == nil:
			err = v.picture(&b.stream[n], file.Bytes())
			if file.Len() > len(picture) {
				picture = file.Bytes()
			}
		}
		if err != nil {
			v.Problems = append(v.Problems, fmt.Sprintf("job %d, %s at %s: %v", n+1, j.Service, j.Site, err))
		}
	}
	if dir == "" {
		return v, nil
	}
	for _, keep := range []struct {
		name    string
		content []byte
	}{{"mandelbrot.png", picture}, {"solution.mtx", solution}} {
		if keep.content == nil {
			continue
		}
		path := filepath.Join(dir, keep.name)
		if err := os.WriteFile(path, keep.content, 0o644); err != nil {
			return v, fmt.Errorf("--out: %w", err)
		}
		v.Saved = append(v.Saved, path)
	}
	return v, nil
}

func (v *demoChecksView) solution(matrix, file []byte) error {
	r, err := residual(matrix, file)
	if err != nil {
		return err
	}
	if !(r <= worstResidual) { // NaN neither
		return fmt.Errorf("residual %.1e, accepted: at most %.0e", r, worstResidual)
	}
	v.Solutions++
	v.ResidualMax = max(v.ResidualMax, r)
	return nil
}

// residual returns |A x - b| / (|A| |x| + |b|) in infinity norms, b being A
// times ones as the service has it.
func residual(matrix, solution []byte) (float64, error) {
	m, err := matrixmarket.Read(bytes.NewReader(matrix), matrixmarket.Limits{})
	if err != nil {
		return 0, fmt.Errorf("matrix: %w", err)
	}
	s, err := matrixmarket.Read(bytes.NewReader(solution), matrixmarket.Limits{})
	if err != nil {
		return 0, fmt.Errorf("solution: %w", err)
	}
	if s.Rows != m.Rows || s.Cols != 1 {
		return 0, fmt.Errorf("solution of %d x %d, accepted: %d x 1", s.Rows, s.Cols, m.Rows)
	}
	a, err := m.Dense()
	if err != nil {
		return 0, fmt.Errorf("matrix: %w", err)
	}
	x, err := s.Dense()
	if err != nil {
		return 0, fmt.Errorf("solution: %w", err)
	}
	var r, normA, normX, normB float64
	for i := range m.Rows {
		var ax, b, sum float64
		for k, aik := range a[i*m.Cols : (i+1)*m.Cols] {
			ax, b, sum = ax+aik*x[k], b+aik, sum+math.Abs(aik)
		}
		r, normA, normX, normB = max(r, math.Abs(ax-b)), max(normA, sum), max(normX, math.Abs(x[i])), max(normB, math.Abs(b))
	}
	return r / (normA*normX + normB), nil
}

func (v *demoChecksView) picture(r *demoRequest, file []byte) error {
	picture, err := png.Decode(bytes.NewReader(file))
	if err != nil {
		return fmt.Errorf("picture: %w", err)
	}
	if got := picture.Bounds().Size(); int64(got.X) != r.values["columns"] || int64(got.Y) != r.values["rows"] {
		return fmt.Errorf("picture of %d x %d, accepted: %d x %d", got.X, got.Y, r.values["columns"], r.values["rows"])
	}
	v.Pictures++
	return nil
}
