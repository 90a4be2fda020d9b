package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// outcome is what became of a bug.
type outcome string

const (
	killed    outcome = "killed"
	timedOut  outcome = "timed out" // and so killed
	survived  outcome = "survived"
	unreached outcome = "unreached" // no test comes by it: it survives as well
)

func (o outcome) survives() bool { return o == survived || o == unreached }

// result is one line of the results file.
type result struct {
	Bug     string
	Area    string
	Place   string
	Outcome outcome
	By      string `json:",omitempty"` // the package whose tests noticed it
}

// results are those so far, on disk as soon as they are known.
type results struct {
	path string
	file *os.File
	by   map[string]result
}

func openResults(path string) (*results, error) {
	r := &results{path: path}
	var err error
	if r.by, err = readResults(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	r.file, err = os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	return r, err
}

// readResults reads a results file. The last line may have been cut off.
func readResults(path string) (map[string]result, error) {
	by := make(map[string]result)
	f, err := os.Open(path)
	if err != nil {
		return by, err
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var r result
		if json.Unmarshal(lines.Bytes(), &r) == nil {
			by[r.Bug] = r
		}
	}
	return by, nil
}

func (r *results) add(one result) error {
	data, err := json.Marshal(one)
	if err != nil {
		return err
	}
	r.by[one.Bug] = one
	_, err = fmt.Fprintf(r.file, "%s\n", data)
	return err
}

func (r *results) of(b *bug) (result, bool) {
	one, ok := r.by[b.description()]
	return one, ok
}

func (r *results) close() { r.file.Close() }

// wanted are the bugs that survived an earlier run, or nil for any.
func (o *options) wanted() (map[string]bool, error) {
	if o.again == "" {
		return nil, nil
	}
	by, err := readResults(o.again)
	if err != nil {
		return nil, err
	}
	wanted := make(map[string]bool)
	for _, r := range by {
		if r.Outcome.survives() {
			wanted[r.Bug] = true
		}
	}
	return wanted, nil
}
