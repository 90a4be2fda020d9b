package histories

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/model/property"
)

// TestFileNames: a file's name has only letters, digits, dashes and underscores, whatever the target is called.
func TestFileNames(t *testing.T) {
	for target, want := range map[string]string{
		"azAZ09-_":        "azAZ09-_",
		"@[`{/:":          "------",
		"python3 ../a.py": "python3----a-py",
		"ä/ß":             "---",
	} {
		if got := FileName(property.NoLeak, target); got != want+".no-leak.json" {
			t.Errorf("%q: %s", target, got)
		}
		if got := HistoryName(target); got != want+".history.jsonl" {
			t.Errorf("%q: %s", target, got)
		}
	}
}

// TestCounterexampleSize: a counterexample of the largest permitted size is read. A larger, missing or unreadable file
// is an error.
func TestCounterexampleSize(t *testing.T) {
	data, err := sampleCounterexample().Encode()
	if err != nil {
		t.Fatal(err)
	}
	full := append(data, bytes.Repeat([]byte(" "), maxCounterexample-len(data))...)
	if _, err := DecodeCounterexample("full", full); err != nil {
		t.Error(err)
	}
	path := filepath.Join(t.TempDir(), "over.json")
	if err := os.WriteFile(path, append(full, ' '), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadCounterexample(path); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Errorf("one byte too many: %v", err)
	}
	for _, path := range []string{filepath.Join(t.TempDir(), "missing.json"), t.TempDir()} {
		if _, err := LoadCounterexample(path); err == nil {
			t.Errorf("%s was read", path)
		}
	}
}

// TestKeysAreKeywords: the fields of an EDN event are keywords, and strings are not fields. Text after a JSON event on
// the same line is an error.
func TestKeysAreKeywords(t *testing.T) {
	read := func(text string) error {
		_, _, err := ReadHistory(strings.NewReader(text), "keys", Unnamed)
		return err
	}
	const event = `{:process 0, :type :invoke, :f :acquire, :value nil`
	for text, wrong := range map[string]string{
		event + `}`:                                   "",
		event + `, "time" "noon"}`:                    "",     // a string is no field
		event + `, :time "noon"}`:                     "time", // a keyword is a field
		`{"type":"invoke","process":0,"f":"acquire"}`: "",
		"{\"type\":\"invoke\",\"process\":0,\"f\":\"acquire\"} \t\r\n":                                                          "",
		`{"type":"invoke","process":0,"f":"acquire"} x`:                                                                         "the end of the line",
		`{"type":"invoke","process":0,"f":"acquire"}` + "\n" + `{"type":"ok","process":0,"f":"acquire","value":{"held":true}}}`: "the end of the line",
		"{\"type\":\"invoke\",\"process\":\n0,\"f\":\"acquire\"}":                                                               "number",
		"{\"type\":\"invoke\",\"process\":0\t,\"f\":\"acquire\" }":                                                              "",
		`{"type":"invoke","process":0x,"f":"acquire"}`:                                                                          "number",
		`{"type":"invoke","process":0 ,"f":"acquire"}`:                                                                          "",
		"{\"type\":\"invoke\",\"process\":0\r,\"f\":\"acquire\",\"time\":5}":                                                    "",
	} {
		if err := read(text); wrong == "" && err != nil || wrong != "" && (err == nil || !strings.Contains(err.Error(), wrong)) {
			t.Errorf("%q: %v, want %q", text, err, wrong)
		}
	}
}
