package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCheckSeveral checks that --clock-error is required for files of several machines, and refused for events of one
// host.
func TestCheckSeveral(t *testing.T) {
	dir := t.TempDir()
	write := func(name, host string, pid, from int) string {
		path := filepath.Join(dir, name)
		text := ""
		for i, what := range []string{"invoke", "ok"} {
			text += fmt.Sprintf(`{"type":%q,"process":1,"f":"acquire","time":%d,"host":%q,"pid":%d}`+"\n", what, 1_700_000_000_000_000_000+int64(from+i)*1_000_000, host, pid)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	one, other, far := write("one", "a", 1, 0), write("other", "a", 2, 100), write("far", "b", 1, 100)
	short := filepath.Join(dir, "short")
	text := ""
	for i, what := range []string{`"invoke","f":"acquire"`, `"ok","f":"acquire"`, `"invoke","f":"release"`, `"ok","f":"release"`} {
		text += fmt.Sprintf(`{"type":%s,"process":1,"time":%d,"host":"c","pid":1}`+"\n", what, 1_700_000_000_000_000_000+int64(i)*1_000_000)
	}
	if err := os.WriteFile(short, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	quick := filepath.Join(dir, "quick")
	if err := os.WriteFile(quick, []byte(strings.ReplaceAll(text, `"c"`, `"d"`)), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{one, far}, exitCannot, "2 machines: expected --clock-error"},
		{[]string{one, far, "--clock-error", "50ms"}, exitViolated, "clocks differ by at most 50ms"},
		{[]string{one, far, "--clock-error", "500ms"}, exitViolated, "at most 500ms"},
		{[]string{short, quick, "--clock-error", "5s"}, exitInconclusive, "no hold was certainly longer than the clock error, 5s"},
		{[]string{one, other}, exitViolated, "1 machine, ordered by their times"},
		{[]string{one, other, "--clock-error", "50ms"}, exitCannot, "one machine's clock"},
		{[]string{one, far, "--clock-error", "-1s"}, exitCannot, "a length of time"},
		{[]string{one, far, "--order", "time"}, exitCannot, "ordered by their times"},
		{[]string{one, far, "--audit"}, exitCannot, "no audit is judged"},
		{[]string{one, filepath.Join(dir, "none")}, exitCannot, "no such file"},
	} {
		var out, errs bytes.Buffer
		code := run(append([]string{"check"}, test.args...), &out, &errs)
		if said := strings.Join(strings.Fields(out.String()+errs.String()), " "); code != test.code || !strings.Contains(said, test.says) {
			t.Errorf("%s: exit code %d, expected %d and %q; %s", strings.ReplaceAll(strings.Join(test.args, " "), dir, ""), code, test.code, test.says, said)
		}
	}
}
