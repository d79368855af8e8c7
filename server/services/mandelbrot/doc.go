// Package mandelbrot is the bundled service that renders a part of the
// Mandelbrot set as a PNG.
//
// A point c of the complex plane is iterated as z = z*z + c from z = 0 until
// |z| exceeds a radius or the iterations run out. Points that never leave are
// black; the others are coloured by the number of steps they took, made
// continuous by how far beyond the radius they landed (the normalized
// iteration count).
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
// Threads take the next row whenever they are free, for rows through the set
// cost far more than others. A pixel depends on nothing but its place, so the
// file is the same byte for byte with any number of threads.
//
// No shortcut skips the set's interior. That keeps the time proportional to
// the iterations done, at most width * height * iterations, so that a
// performance model of one line describes it.
package mandelbrot
