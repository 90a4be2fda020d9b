// Package outfile writes the files that are asked for, and tries before a run whether they can be written. Where a
// regular file stands, or nothing, a file is written whole or not at all: whoever reads it meanwhile, and whatever
// goes wrong, finds what was there before. Anything else, such as a device or a pipe, is written to, and a link leads
// where it led.
package outfile
