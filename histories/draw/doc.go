// Package draw shows one execution as a space-time diagram: [Draw] for a terminal, [SVG] for a page, [Transcript] in
// words.
package draw
