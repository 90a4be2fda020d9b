package main

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
)

//go:embed amqp0-9-1.stripped.extended.xml
var definition []byte

// main writes the generated files to the directory given as the only argument.
func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("expected one argument, the directory to write to; got %q", args)
	}
	p, err := parse(definition)
	if err != nil {
		return err
	}
	files, err := generate(p)
	if err != nil {
		return err
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(args[0], name), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
