package clock_test

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/lockproof/lockproof/adapters/gate/clock"
)

// started runs a shell script with a virtual clock. It returns the clock, and a reader of the script's output.
func started(t *testing.T, script string) (*clock.Client, *bufio.Reader) {
	t.Helper()
	c, err := clock.NewClient()
	if errors.Is(err, clock.ErrNone) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command("sh", "-c", script)
	command.Env = append(os.Environ(), c.Environment()...)
	in, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := command.StdoutPipe()
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		_ = command.Process.Kill()
		_ = command.Wait()
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c, bufio.NewReader(out)
}

// rest waits until a client is at rest, and returns the virtual time until it acts by itself.
func rest(t *testing.T, c *clock.Client) time.Duration {
	t.Helper()
	for range 20_000 {
		if rests, next := c.Rest(); rests && c.Taken() {
			return next
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatal("the client does not come to rest")
	return 0
}

// TestClient: a client sleeps until the virtual time that it waits for, and Rest returns how long that is.
func TestClient(t *testing.T) {
	t.Parallel()
	c, out := started(t, "sleep 5; date -u +%T; read end")
	for rest(t, c) == 0 { // 0 while the shell waits for a program that is just starting
		time.Sleep(time.Millisecond)
	}
	if next := rest(t, c); next != 5*time.Second {
		t.Fatalf("it does something by itself in %v, expected 5 s", next)
	}
	c.Set(4999 * time.Millisecond)
	if next := rest(t, c); next != time.Millisecond {
		t.Fatalf("a millisecond before, it does something by itself in %v", next)
	}
	c.Set(5 * time.Second)
	if line, err := out.ReadString('\n'); line != "00:00:05\n" || err != nil {
		t.Errorf("it says %q, %v: expected five seconds after the epoch", line, err)
	}
	for range 1000 {
		if next := rest(t, c); next == 0 {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Error("it waits for its input, and is taken to wait for some time")
}

// TestAwake: a client that computes is never found at rest.
func TestAwake(t *testing.T) {
	t.Parallel()
	c, out := started(t, "echo begins; while :; do :; done")
	if _, err := out.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	for range 50 {
		if rests, _ := c.Rest(); rests {
			t.Fatal("it is taken to be at rest")
		}
		time.Sleep(time.Millisecond)
	}
}

// TestMachine: a program in Go uses the machine's clock, even if it is linked with the C library and so loads the
// clock's library.
func TestMachine(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("cc"); err != nil {
		t.Skip(err)
	}
	folder := t.TempDir()
	const program = `package main

// #include <time.h>
import "C"

import (
	"fmt"
	"time"
)

func main() {
	fmt.Println("begins", C.time(nil))
	time.Sleep(time.Hour)
}
`
	source, name := filepath.Join(folder, "main.go"), filepath.Join(folder, "main")
	if err := os.WriteFile(source, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", "build", "-o", name, source)
	build.Env = append(os.Environ(), "CGO_ENABLED=1")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	c, out := started(t, "exec "+name)
	if line, err := out.ReadString('\n'); line != fmt.Sprintln("begins", clock.Epoch.Unix()) || err != nil {
		t.Fatalf("it says %q, %v: expected our time of the C library", line, err)
	}
	for began := time.Now(); c.Taken(); time.Sleep(time.Millisecond) {
		if rests, _ := c.Rest(); rests {
			t.Fatal("it is taken to be at rest for good")
		}
		if time.Since(began) > 20*time.Second {
			t.Fatal("it is taken to have our time")
		}
	}
}
