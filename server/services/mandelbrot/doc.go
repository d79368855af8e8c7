// Package mandelbrot is the bundled service that renders a part of the Mandelbrot set as a
// PNG.
//
// A point c of the complex plane is iterated as z = z*z + c from z = 0 until
// |z| exceeds a radius or the iterations run out. Points that stay inside are black. The
// color of other points depends on their number of steps, made continuous by the distance
// beyond the radius (the normalized iteration count).
//
//	  width pixels = 3.5/zoom units
//	┌───────────────────────────────┐
//	│ row 0          ─> thread 1    │
//	│ row 1          ─> thread 2    │ height pixels,
//	│ row 2     · (x, y)            │ imaginary axis upwards
//	│ row 3          ─> thread 2    │
//	│ row 4          ─> thread 1    │
//	└───────────────────────────────┘
//
// An idle thread takes the next row, because rows through the set cost far more than
// others. A pixel depends only on its position, so the file is the same byte for byte with
// any number of threads.
//
// No shortcut skips the interior of the set. The time is therefore proportional to the
// iterations, at most width * height * iterations, and a one-line performance model
// describes it.
package mandelbrot
