package histories

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/model/property"
)

// A file's name has letters, digits and dashes only, whatever the target's name.
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

// A counterexample may be as large as is said, and no larger; one that cannot be read is said to be that.
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

// Only keywords are keys that EDN's events are known by; and what stands after an event is no part of it.
func TestKeysAreKeywords(t *testing.T) {
	read := func(text string) error {
		_, _, err := ReadHistory(strings.NewReader(text), "keys", Unnamed)
		return err
	}
	const event = `{:process 0, :type :invoke, :f :acquire, :value nil`
	for text, wrong := range map[string]string{
		event + `}`:                                   "",
		event + `, "time" "noon"}`:                    "",     // a string is another key
		event + `, :time "noon"}`:                     "time", // and a keyword is not
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
