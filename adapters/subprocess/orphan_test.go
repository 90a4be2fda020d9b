//go:build unix

package subprocess_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"regexp"
	"testing"
)

// parent is the role of a test binary that starts a client, and prints the process numbers of the client and of its
// child. Then it panics or hangs. The client ignores the end of its input.
const parent = "parent"

func init() {
	roles[parent] = func() {
		s := starter("has a child")
		said := make(chan []byte, 1)
		s.Stderr = relay(said)
		c := s.Client("c1")
		if _, err := c.Initialize(context.Background(), setup); err != nil {
			complain(err.Error())
			os.Exit(1)
		}
		os.Stderr.Write(<-said)
		if os.Getenv("THEN") == "panic" {
			panic("as bugs do")
		}
		hang()
	}
}

// relay is an io.Writer that sends what is written to a channel.
type relay chan []byte

func (r relay) Write(p []byte) (int, error) {
	r <- bytes.Clone(p)
	return len(p), nil
}

// If this process dies, for any reason, its clients and their children end.
func TestDiesWithUs(t *testing.T) {
	for _, then := range []string{"panic", "be killed"} {
		t.Run(then, func(t *testing.T) {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), role+"="+parent, "THEN="+then)
			pipe, err := cmd.StderrPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			var said []byte
			numbers := regexp.MustCompile(`child (\d+) of (\d+)\n`)
			for !numbers.Match(said) {
				chunk := make([]byte, 1024)
				n, err := pipe.Read(chunk)
				if err != nil {
					t.Fatalf("%v; it says %s", err, said)
				}
				said = append(said, chunk[:n]...)
			}
			if then != "panic" {
				cmd.Process.Kill()
			}
			cmd.Wait()
			for _, pid := range numbers.FindSubmatch(said)[1:] {
				gone(t, string(pid))
			}
		})
	}
}
