package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// equivalents are the bugs that make no difference, each with the reason: a line with the description
// as it is printed, and lines with the reason, indented, below it.
type equivalents struct {
	path    string
	reasons map[string]string
	order   []string
}

func readEquivalents(path string) (*equivalents, error) {
	e := &equivalents{path: path, reasons: make(map[string]string)}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return e, nil
	} else if err != nil {
		return nil, err
	}
	n := 0
	for line := range strings.Lines(string(data)) {
		n++
		line = strings.TrimRight(line, "\n")
		switch text := strings.TrimSpace(line); {
		case text == "" || strings.HasPrefix(text, "#"):
		case text == line:
			if _, twice := e.reasons[text]; twice {
				return nil, fmt.Errorf("%s:%d: it is listed twice", path, n)
			}
			e.reasons[text], e.order = "", append(e.order, text)
		case len(e.order) == 0:
			return nil, fmt.Errorf("%s:%d: a reason without a bug above it", path, n)
		default:
			last := e.order[len(e.order)-1]
			e.reasons[last] = strings.TrimSpace(e.reasons[last] + " " + text)
		}
	}
	for _, b := range e.order {
		if e.reasons[b] == "" {
			return nil, fmt.Errorf("%s: no reason is given for %s", path, b)
		}
	}
	return e, nil
}

func (e *equivalents) has(b *bug) bool { return e.reasons[b.description()] != "" }

// stale are those listed that no longer can be injected.
func (e *equivalents) stale(bugs []*bug) (list []string) {
	there := make(map[string]bool)
	for _, b := range bugs {
		there[b.description()] = true
	}
	for _, d := range e.order {
		if !there[d] {
			list = append(list, d)
		}
	}
	return list
}
