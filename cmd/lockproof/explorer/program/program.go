package program

import (
	"bytes"
	"compress/gzip"
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"github.com/lockproof/lockproof/histories/leftover"
)

//go:embed all:built
var built embed.FS

// Program is the explorer in the form that a page needs.
type Program struct {
	Wasm    []byte // the program, compressed with gzip
	Runtime []byte // wasm_exec.js of the go version that built Wasm
}

// got is the program that this process has built, if any.
var got struct {
	sync.Mutex
	*Program
}

// Get returns the program. If it is not embedded, Get builds it, and calls tell first because that takes a while.
func Get(ctx context.Context, tell func(string)) (p *Program, err error) {
	got.Lock()
	defer got.Unlock()
	if got.Program == nil {
		got.Program, err = get(ctx, tell)
	}
	return got.Program, err
}

func get(ctx context.Context, tell func(string)) (*Program, error) {
	if p := Embedded(); p != nil {
		return p, nil
	}
	from, err := sources()
	if err != nil {
		return nil, err
	}
	tell("building the explorer for browsers with go: this takes a while, the first time")
	return Build(ctx, from)
}

// Embedded returns the embedded program, or nil if there is none.
func Embedded() *Program {
	wasm, err := built.ReadFile("built/explorer.wasm.gz")
	if err != nil {
		return nil
	}
	script, err := built.ReadFile("built/wasm_exec.js")
	if err != nil {
		return nil
	}
	return &Program{wasm, script}
}

// Build builds the program. explorer is the explorer's folder in a clone. The same sources and version of go give the
// same bytes.
func Build(ctx context.Context, explorer string) (*Program, error) {
	where := exec.CommandContext(ctx, "go", "env", "GOROOT")
	where.Dir = explorer // not the current folder, whose go.mod may require another version of go
	root, err := output(where)
	if err != nil {
		return nil, fmt.Errorf("the explorer: building it takes go: %w", err)
	}
	script, err := os.ReadFile(filepath.Join(strings.TrimSpace(root), "lib", "wasm", "wasm_exec.js"))
	if err != nil {
		return nil, fmt.Errorf("the explorer: %w", err)
	}
	temp, err := leftover.NewFolder("explorer")
	if err != nil {
		return nil, fmt.Errorf("the explorer: %w", err)
	}
	defer func() { _ = temp.Remove() }() // if it fails, the next run removes the folder
	wasm := filepath.Join(temp.Path, "explorer.wasm")
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", wasm, ".")
	cmd.Dir = filepath.Join(explorer, "wasm")
	cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "GOFLAGS=", "GOTMPDIR="+temp.Path)
	if _, err := output(cmd); err != nil {
		return nil, fmt.Errorf("the explorer: building it: %w", err)
	}
	data, err := os.ReadFile(wasm)
	if err != nil {
		return nil, fmt.Errorf("the explorer: %w", err)
	}
	packed, err := pack(data)
	return &Program{packed, script}, err
}

// sources returns the path of the explorer's folder, as it was at compile time.
func sources() (string, error) {
	_, file, _, _ := runtime.Caller(0)
	return sourcesOf(file)
}

// sourcesOf returns the explorer's folder, from the path of this file at compile time. If the build trimmed paths, it
// returns an error, because any folder may claim the module's name.
func sourcesOf(file string) (string, error) {
	if _, err := os.Stat(file); err == nil && filepath.IsAbs(file) {
		return filepath.Join(filepath.Dir(file), ".."), nil
	}
	return "", errors.New("the explorer: this lockproof was built without it, and where its sources are is not known: " +
		"take a release, or build it where its sources stay, without -trimpath")
}

// pack compresses data with gzip at the highest level.
func pack(data []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	err = w.Close()
	return b.Bytes(), err
}

// Write writes the program into the folder to be embedded. explorer is the explorer's folder in a clone.
func (p *Program) Write(explorer string) error {
	dir := filepath.Join(explorer, "program", "built")
	return errors.Join(
		os.WriteFile(filepath.Join(dir, "explorer.wasm.gz"), p.Wasm, 0o644),
		os.WriteFile(filepath.Join(dir, "wasm_exec.js"), p.Runtime, 0o644),
	)
}

// output runs a command and returns its output. The error includes the command's standard error.
func output(cmd *exec.Cmd) (string, error) {
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, errs.String())
	}
	return out.String(), nil
}
