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

// handedOver is a command line of the program without campaigns, with PATH and no cache.
func handedOver(t *testing.T, path string, args ...string) (code int, out, errs string) {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	var o, e bytes.Buffer
	cmd.Stdout, cmd.Stderr = &o, &e
	cmd.Env = append(os.Environ(), asCommand+"="+withoutCampaigns, "PATH="+path, "XDG_CACHE_HOME="+t.TempDir())
	err := cmd.Run()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), o.String(), e.String()
}

// TestHandOver: what is said of campaigns goes to the program that runs them, word for word, and its exit code is ours.
// The program in PATH is taken, else it is built by Go, else it is said how to come by it. Help needs neither.
func TestHandOver(t *testing.T) {
	program := func(name, text string) string {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text), 0o755); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	const campaign = `printf '<%s>' "$@"; exit 3`
	there := program(campaignProgram, campaign)
	if code, out, errs := handedOver(t, there, "campaign", "run", "a night.json", "--workers", "1"); code != 3 || out != "<campaign><run><a night.json><--workers><1>" || errs != "" {
		t.Errorf("in PATH: exit code %d, %q, %q", code, out, errs)
	}
	built := program("go", `[ "$1 $2" = "install `+campaignPackage+`" ] || exit 1
/bin/mkdir -p "$GOBIN" && printf '#!/bin/sh\n%s\n' '`+strings.ReplaceAll(campaign, "'", `'\''`)+`' >"$GOBIN/`+campaignProgram+`" && /bin/chmod +x "$GOBIN/`+campaignProgram+`"`)
	if code, out, errs := handedOver(t, built, "campaign", "status"); code != 3 || out != "<campaign><status>" || !strings.Contains(errs, "building "+campaignProgram) {
		t.Errorf("built: exit code %d, %q, %q", code, out, errs)
	}
	refused := program("go", "echo no such module >&2; exit 1")
	for path, says := range map[string]string{t.TempDir(): "executable file not found", refused: "could not be built: no such module; go install " + campaignPackage + "@latest"} {
		if code, _, errs := handedOver(t, path, "campaign", "status"); code != exitCannot || !strings.Contains(errs, says) {
			t.Errorf("nowhere: exit code %d, %q; expected %q", code, errs, says)
		}
	}
	if code, out, _ := handedOver(t, t.TempDir(), "campaign", "run", "--help"); code != exitHolds || !strings.Contains(out, "goes on where it was left") {
		t.Errorf("help: exit code %d, %q", code, out)
	}
}
