//go:build !unix

package infile

import "os"

func open(path string) (*os.File, error) { return os.Open(path) }
