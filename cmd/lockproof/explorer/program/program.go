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

// Program is what a page needs.
type Program struct {
	Wasm    []byte // gzipped
	Runtime []byte // wasm_exec.js of the go that built it
}

// got is the program that was built by this process.
var got struct {
	sync.Mutex
	*Program
}

// Get is the program, embedded or built now; tell is told if it takes a while.
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
	tell("building the explorer for browsers with go: this takes a while, the first time")
	return Build(ctx)
}

// Embedded is the program that was embedded when this one was built, or nil.
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

// Build builds the program from the sources that this one was built from. The same sources and the same go give the same
// bytes.
func Build(ctx context.Context) (*Program, error) {
	here, err := sources(ctx)
	if err != nil {
		return nil, err
	}
	root, err := output(exec.CommandContext(ctx, "go", "env", "GOROOT"))
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
	defer func() { _ = temp.Remove() }() // the next run finds what stays
	wasm := filepath.Join(temp.Path, "explorer.wasm")
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", wasm, ".")
	cmd.Dir = filepath.Join(here, "..", "wasm")
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

// sources is the directory that this file is in: as the compiler knew it, or, where paths were trimmed, as go finds it from
// where we are.
func sources(ctx context.Context) (string, error) {
	_, file, _, _ := runtime.Caller(0)
	if dir := filepath.Dir(file); filepath.IsAbs(dir) {
		if _, err := os.Stat(file); err == nil {
			return dir, nil
		}
	}
	dir, err := output(exec.CommandContext(ctx, "go", "list", "-f", "{{.Dir}}", "github.com/lockproof/lockproof/cmd/lockproof/explorer/program"))
	if err != nil {
		return "", errors.New("the explorer: this lockproof was built without it, and where its sources are is not known: " +
			"take a release, or run it from a clone of the repository")
	}
	return strings.TrimSpace(dir), nil
}

// pack compresses as far as gzip can.
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

// Write writes the program into the folder that is embedded.
func (p *Program) Write(ctx context.Context) error {
	here, err := sources(ctx)
	if err != nil {
		return err
	}
	dir := filepath.Join(here, "built")
	return errors.Join(
		os.WriteFile(filepath.Join(dir, "explorer.wasm.gz"), p.Wasm, 0o644),
		os.WriteFile(filepath.Join(dir, "wasm_exec.js"), p.Runtime, 0o644),
	)
}

// output is what a command prints; the error has what it says of itself.
func output(cmd *exec.Cmd) (string, error) {
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, errs.String())
	}
	return out.String(), nil
}
