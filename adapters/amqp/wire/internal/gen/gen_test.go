package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// The generated files of package frame are up to date with the protocol definition.
func TestGeneratedIsUpToDate(t *testing.T) {
	p, err := parse(definition)
	if err != nil {
		t.Fatal(err)
	}
	files, err := generate(p)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join("..", "..", "frame", name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is not what the definition gives: run go generate ./adapters/amqp/wire/frame", name)
		}
	}
}
