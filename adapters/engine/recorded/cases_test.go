package recorded_test

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/adapters/engine/recorded"
	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/model/linear"
	"github.com/lockproof/lockproof/model/lock"
)

// TestCases judges the histories in the folders of testdata/histories/cases. Each folder's file "expected" has lines of
// a history's name, how releases by other clients are read, the outcome, and the violated properties. The reading
// "reject,2" means a semaphore with two permits.
func TestCases(t *testing.T) {
	files, err := filepath.Glob("../../../testdata/histories/cases/*/expected")
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			if words := strings.Fields(line); len(words) > 2 && words[0] != "#" {
				path := filepath.Join(filepath.Dir(file), words[0])
				t.Run(filepath.Base(filepath.Dir(file))+"/"+words[0]+" "+words[1], func(t *testing.T) { judgeCase(t, path, words[1:]) })
			}
		}
	}
}

// judgeCase judges a history. expected is the rest of the line: the reading, the outcome, and the violated properties.
func judgeCase(t *testing.T, path string, expected []string) {
	reading, permits, semaphore := strings.Cut(expected[0], ",")
	releases, err := linear.ReleasesNamed(reading)
	if err != nil {
		t.Fatal(err)
	}
	assumed, options := histories.Unnamed, recorded.CheckOptions{Source: path, Releases: releases}
	if semaphore {
		if options.Permits, err = strconv.Atoi(permits); err != nil {
			t.Fatal(err)
		}
		assumed = histories.Header{Kind: lock.Semaphore, Locks: []histories.Named{{Name: "lock", Slots: 1}}}
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	recording, err := histories.NewRecording(file, path, assumed)
	if err != nil {
		t.Fatal(err)
	}
	r, err := recorded.CheckRecording(recording, options)
	if err != nil {
		t.Fatal(err)
	}
	got := []string{expected[0], string(r.Outcome())}
	for i := range r.Properties {
		if verdict, _ := r.Verdict(&r.Properties[i]); verdict == report.Violated {
			got = append(got, r.Properties[i].Name())
		}
	}
	if !slices.Equal(got, expected) {
		t.Errorf("%q, expected %q", got, expected)
	}
}
