package histories_test

import (
	"bytes"
	"errors"
	"path/filepath"
	"testing"

	"github.com/lockproof/lockproof/histories"
)

// TestSecretsAreNotKept: the file of a counterexample contains no secret. It says how to give each secret again, and a
// counterexample read from it accepts the secrets.
func TestSecretsAreNotKept(t *testing.T) {
	ce, err := histories.LoadCounterexample("../testdata/counterexamples/locked-is-success.mutual-exclusion.json")
	if err != nil {
		t.Fatal(err)
	}
	command := "PASSWORD=marked ./a --url redis://u:marked@h"
	ce.Exec, ce.ExecOptions = command, map[string]string{"token": "marked", "url": "redis://:marked@h", "bug": "yes"}
	path := filepath.Join(t.TempDir(), "ce.json")
	if err := ce.Save(path); err != nil {
		t.Fatal(err)
	}
	read, err := histories.LoadCounterexample(path)
	if err != nil {
		t.Fatal(err)
	}
	data, err := read.Encode()
	if err != nil || bytes.Contains(data, []byte("marked")) {
		t.Errorf("it has its secrets: %s, %v", data, err)
	}
	for _, says := range []string{`"environment variable PASSWORD"`, `"environment variable LOCKPROOF_SECRET_1"`, `"-o token"`, `"-o url"`} {
		if !bytes.Contains(data, []byte(says)) {
			t.Errorf("it does not say %s: %s", says, data)
		}
	}
	none := func(string) (string, bool) { return "", false }
	var missing *histories.MissingSecrets
	if err := read.GiveAgain(none, nil); !errors.As(err, &missing) || len(missing.Variables) != 2 || len(missing.Options) != 2 {
		t.Errorf("without secrets: %v", err)
	}
	given := map[string]string{"token": "marked", "url": "redis://:marked@h"}
	all := func(string) (string, bool) { return "marked", true }
	if err := read.GiveAgain(all, map[string]string{"bug": "no"}); err == nil {
		t.Error("an option that is not hidden is given again")
	}
	if err := read.GiveAgain(all, given); err != nil || read.Exec != command || read.ExecOptions["url"] != given["url"] || read.ExecOptions["bug"] != "yes" {
		t.Errorf("with secrets: %v, %s, %v", err, read.Exec, read.ExecOptions)
	}
}
