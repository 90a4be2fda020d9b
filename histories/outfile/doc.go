// Package outfile writes output files, and checks before a run whether they can be written. A regular or new file is
// written whole or not at all: a reader meanwhile, or after a failure, finds the old content. Other kinds, such as a
// device or a pipe, are written directly, and a link keeps its target.
package outfile
