package cli

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestPasswordsStayHidden: nothing that a command prints or writes has a password that was typed, or that the environment
// has, whether a server is there or not.
func TestPasswordsStayHidden(t *testing.T) {
	recorded, err := filepath.Abs("../../../testdata/counterexamples/verify-twice.cheap-verify.json")
	if err != nil {
		t.Fatal(err)
	}
	const marked = "mArKeD"
	dir := t.TempDir()
	judged := "--seed 1 --scenarios 1 --time 1s --out found --html p.html --junit j.xml --sarif s.json --summary s.md --json"
	commands := []string{
		"prove verify-twice -o password=" + marked + " " + judged,
		"prove verify-twice --broker amqp://u:" + marked + "@127.0.0.1:1/%2F " + judged,
		"replay --html r.html " + recorded + " --on amqp://u:" + marked + "@127.0.0.1:1/%2F",
		"replay " + recorded + " --on redis://:" + marked + "@127.0.0.1:1/0",
		"campaign run none.json --queue nats://u:" + marked + "@127.0.0.1:1",
		"prove verify-twice --seed 1 --scenarios 200 --html v.html --junit v.xml --sarif v.sarif --summary v.md --out v --on simulated --label amqp://u:" + marked + "@h",
	}
	for _, address := range []string{
		"amqp://u:" + marked + "@127.0.0.1:1/%2F", "amqp://u:" + marked + "/x@127.0.0.1:1", "amqp://127.0.0.1:1/%2F?password=" + marked,
		"redis://:" + marked + "@127.0.0.1:1/0", "mysql://u:" + marked + "@127.0.0.1:1/d", "postgres://u:" + marked + "@127.0.0.1:1/d",
		"postgres://127.0.0.1:1/d?user=u&password=" + marked, "postgres://u:" + marked + "%zz@127.0.0.1:1", "http://u:" + marked + "@127.0.0.1:1",
	} {
		commands = append(commands, "prove verify-twice --on "+address+" "+judged, "compare --time 1s --html c.html --on "+address, "atlas --time 1s --html a.html --on="+address)
	}
	for _, command := range commands {
		cmd := exec.Command(os.Args[0], strings.Fields(command)...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), asCommand+"=1", "XDG_CACHE_HOME="+t.TempDir())
		said, _ := cmd.CombinedOutput()
		if bytes.Contains(said, []byte(marked)) {
			t.Errorf("%s: the password is printed: %s", command, said)
		}
	}
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if text, err := os.ReadFile(path); err != nil || bytes.Contains(text, []byte(marked)) {
			t.Errorf("%s has the password; %v", path, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestCommandWithoutSecrets: the command that repeats a run has a variable's name where the address came from there, and
// else *** for its password.
func TestCommandWithoutSecrets(t *testing.T) {
	t.Setenv("LOCKPROOF_AMQP_URL", "amqp://u:marked@h")
	for _, c := range []struct{ before, word, want string }{
		{"--on", "amqp://u:marked@h", `"$LOCKPROOF_AMQP_URL"`},
		{"prove", "--on=amqp://u:marked@h", `--on="$LOCKPROOF_AMQP_URL"`},
		{"--on", "amqp://u:marked@i", `'amqp://u:***@i'`},
		{"-o", "password=marked", `'password=***'`},
		{"--exec", "go run . --password marked", `'go run . --password ***'`},
		{"-o", "entry=single", "entry=single"},
		{"--html", "page.html", "page.html"},
	} {
		if got := withoutSecret(c.before, c.word); got != c.want {
			t.Errorf("%s %s: got %s, expected %s", c.before, c.word, got, c.want)
		}
	}
}
