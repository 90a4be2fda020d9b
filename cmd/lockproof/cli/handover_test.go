//go:build unix

package cli

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// sourceVariable is an environment variable that replaces the path of the source at compile time.
const sourceVariable = "LOCKPROOF_TEST_SOURCE"

// handedOver runs this test binary as lockproof without campaigns and drivers, with the given PATH and an empty cache.
func handedOver(t *testing.T, path string, args ...string) (code int, out, errs string) {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	var o, e bytes.Buffer
	cmd.Stdout, cmd.Stderr = &o, &e
	here, err := filepath.Abs("handover.go")
	if err != nil {
		t.Fatal(err)
	}
	cmd.Env = append(os.Environ(), asCommand+"="+handsOver, "PATH="+path, "XDG_CACHE_HOME="+t.TempDir(), sourceVariable+"="+here)
	err = cmd.Run()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), o.String(), e.String()
}

// TestHandOver checks that `campaign` runs the program lockproof-campaign with the same words, and returns its exit
// code. The program is taken from PATH, or else built by Go. If neither works, the error says how to install it. --help
// needs no other program.
func TestHandOver(t *testing.T) {
	program := func(name, text string) string {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text), 0o755); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	const campaign = `printf '<%s>' "$@"; exit 3`
	there := program(campaignProgram.name, campaign)
	if code, out, errs := handedOver(t, there, "campaign", "run", "a night.json", "--workers", "1"); code != 3 || out != "<campaign><run><a night.json><--workers><1>" || errs != "" {
		t.Errorf("in PATH: exit code %d, %q, %q", code, out, errs)
	}
	built := program("go", `[ "$1 $2" = "install `+campaignProgram.source()+`" ] || exit 1
/bin/mkdir -p "$GOBIN" && printf '#!/bin/sh\n%s\n' '`+strings.ReplaceAll(campaign, "'", `'\''`)+`' >"$GOBIN/`+campaignProgram.name+`" && /bin/chmod +x "$GOBIN/`+campaignProgram.name+`"`)
	if code, out, errs := handedOver(t, built, "campaign", "status"); code != 3 || out != "<campaign><status>" || !strings.Contains(errs, "building "+campaignProgram.name) {
		t.Errorf("built: exit code %d, %q, %q", code, out, errs)
	}
	refused := program("go", "echo no such module >&2; exit 1")
	for path, says := range map[string]string{t.TempDir(): "executable file not found", refused: "could not be built: no such module; go install " + campaignProgram.source() + "@latest"} {
		if code, _, errs := handedOver(t, path, "campaign", "status"); code != exitCannot || !strings.Contains(errs, says) {
			t.Errorf("nowhere: exit code %d, %q; expected %q", code, errs, says)
		}
	}
	if code, out, _ := handedOver(t, t.TempDir(), "campaign", "run", "--help"); code != exitHolds || !strings.Contains(out, "goes on where it was left") {
		t.Errorf("help: exit code %d, %q", code, out)
	}
}

// TestHandOverServers checks that commands which need a real database run lockproof-servers before they print anything.
// Without that program a comparison leaves databases out, and says why. An address of Redis does not need the program,
// but an image does.
func TestHandOverServers(t *testing.T) {
	there := t.TempDir()
	if err := os.WriteFile(filepath.Join(there, serversProgram.name), []byte("#!/bin/sh\nprintf '<%s>' \"$@\"; exit 1"), 0o755); err != nil {
		t.Fatal(err)
	}
	const file = "../../../testdata/counterexamples/mariadb/mariadb-count-first.no-phantom-slot.json"
	if code, out, errs := handedOver(t, there, "replay", "--on", "mariadb", file); code != 1 || out != "<replay><--on><mariadb><"+file+">" || errs != "" {
		t.Errorf("replay: exit code %d, %q, %q", code, out, errs)
	}
	if code, out, errs := handedOver(t, there, "compare", "mariadb-slots"); code != 1 || out != "<compare><mariadb-slots>" || errs != "" {
		t.Errorf("compare: exit code %d, %q, %q", code, out, errs)
	}
	const onRedis = "../../../testdata/counterexamples/redis/priority-text.mutual-exclusion.json"
	if code, out, errs := handedOver(t, there, "replay", "--on", "redis:7.4", onRedis); code != 1 || out != "<replay><--on><redis:7.4><"+onRedis+">" || errs != "" {
		t.Errorf("replay on an image: exit code %d, %q, %q", code, out, errs)
	}
	if code, out, errs := handedOver(t, there, "replay", "--on", "redis://127.0.0.1:1", onRedis); code != exitCannot || !strings.Contains(errs, "127.0.0.1:1") {
		t.Errorf("replay on a Redis that is not there: exit code %d, %q, %q", code, out, errs)
	}
	if code, out, errs := handedOver(t, there, "replay", file); code != 1 || !strings.Contains(out, "no-phantom-slot") {
		t.Errorf("replay on the simulator: exit code %d, %q, %q", code, out, errs)
	}
	if code, out, errs := handedOver(t, t.TempDir(), "compare", "mariadb-slots", "--time", "1s", "--scenarios", "10"); code != exitHolds || !strings.Contains(out, serversProgram.name) {
		t.Errorf("compare without the program: exit code %d, %q, %q", code, out, errs)
	}
}

// TestHandOverContainers checks that a command which needs a container runs lockproof-servers before it prints
// anything. Without that program it must fail.
func TestHandOverContainers(t *testing.T) {
	there := t.TempDir()
	if err := os.WriteFile(filepath.Join(there, serversProgram.name), []byte("#!/bin/sh\nprintf '<%s>' \"$@\"; exit 1"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, command := range [][]string{{"prove", "--on", "rabbitmq:4.1"}, {"compare", "mutex", "--on", "rabbitmq:4.1"}, {"atlas", "--on", "rabbitmq:4.1"}} {
		if code, out, errs := handedOver(t, there, command...); code != 1 || out != "<"+strings.Join(command, "><")+">" || errs != "" {
			t.Errorf("%s: exit code %d, %q, %q", command, code, out, errs)
		}
		if code, _, errs := handedOver(t, t.TempDir(), command...); code != exitCannot || !strings.Contains(errs, "containers are started") || !strings.Contains(errs, serversProgram.name) {
			t.Errorf("%s without the program: exit code %d, %q", command, code, errs)
		}
	}
}

// TestNoEngine checks the error if no container engine answers. One line must say where it was looked for, and what to
// do.
func TestNoEngine(t *testing.T) {
	if _, err := os.Stat("/var/run/docker.sock"); err == nil {
		t.Skip("skipped: there is a Docker")
	}
	cmd := exec.Command(os.Args[0], "prove", "--on", "rabbitmq:4.1")
	cmd.Env = append(os.Environ(), asCommand+"=1", "DOCKER_HOST=unix:///nowhere.sock", "HOME="+t.TempDir(), "XDG_RUNTIME_DIR="+t.TempDir())
	said, _ := cmd.CombinedOutput()
	lines := strings.Split(strings.TrimSpace(string(said)), "\n")
	if code := cmd.ProcessState.ExitCode(); code != exitCannot || len(lines) != 2 || lines[0] != "lockproof: starting rabbitmq:4.1 in a container" {
		t.Fatalf("exit code %d: %s", code, said)
	}
	for _, part := range []string{"no container engine answers at unix:///nowhere.sock, which DOCKER_HOST names", "; start Docker, or Podman's service"} {
		if !strings.Contains(lines[1], part) {
			t.Errorf("%q does not say %q", lines[1], part)
		}
	}
}

// TestBuildsOnlyItsClone checks that nothing is built in a folder outside the clone from which the program was built,
// even if the folder's go.mod has the module's name.
func TestBuildsOnlyItsClone(t *testing.T) {
	tools, foreign := t.TempDir(), t.TempDir()
	ran := filepath.Join(t.TempDir(), "ran")
	if err := os.WriteFile(filepath.Join(tools, "go"), []byte("#!/bin/sh\necho >"+ran+"\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(foreign, "go.mod"), []byte("module github.com/lockproof/lockproof\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	here, err := filepath.Abs("handover.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, source := range []string{here, "github.com/lockproof/lockproof/cmd/lockproof/cli/handover.go"} {
		cmd := exec.Command(os.Args[0], "campaign", "status")
		cmd.Dir = foreign
		cmd.Env = append(os.Environ(), asCommand+"="+handsOver, "PATH="+tools, "XDG_CACHE_HOME="+t.TempDir(), sourceVariable+"="+source)
		said, _ := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); code != exitCannot || !bytes.Contains(said, []byte("clone that it was built from")) && !bytes.Contains(said, []byte("which clone it was built from")) {
			t.Errorf("%s: exit code %d: %s", source, code, said)
		}
		if _, err := os.Stat(ran); err == nil {
			t.Errorf("%s: something was built", source)
		}
	}
}
