// Package outfile writes output files, and checks before a run whether they can be written. A regular or new file is
// written atomically: until the write is complete, or if it fails, readers find the old content. Other kinds, such as
// a device or a pipe, are written directly, and a link keeps its target.
package outfile
