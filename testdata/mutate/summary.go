package main

import (
	"fmt"
	"io"
)

// summary is what a run came to.
type summary struct {
	points    int // bugs that could be injected
	total     tally
	areas     map[string]*tally
	survivors []*bug
	outcomes  []outcome // of the survivors
	stale     []string  // listed as making no difference, but not there any more
	left      []string  // tests
	results   string
}

// tally counts the bugs of a sample.
type tally struct{ bugs, killed, timedOut, survived, equivalent, untried int }

func (s *summary) count(bugs []*bug, listed *equivalents, found *results) {
	s.areas = make(map[string]*tally)
	for _, b := range bugs {
		if s.areas[b.area] == nil {
			s.areas[b.area] = new(tally)
		}
		for _, t := range []*tally{&s.total, s.areas[b.area]} {
			t.add(b, listed, found)
		}
		if r, ok := found.of(b); ok && r.Outcome.survives() && !listed.has(b) {
			s.survivors, s.outcomes = append(s.survivors, b), append(s.outcomes, r.Outcome)
		}
	}
}

func (t *tally) add(b *bug, listed *equivalents, found *results) {
	t.bugs++
	r, ok := found.of(b)
	switch {
	case listed.has(b):
		t.equivalent++
	case !ok:
		t.untried++
	case r.Outcome.survives():
		t.survived++
	case r.Outcome == timedOut:
		t.timedOut++
	default:
		t.killed++
	}
}

// rate is how many of a hundred bugs survived, of those that make a difference.
func (t *tally) rate() float64 {
	tried := t.killed + t.timedOut + t.survived
	return 100 * float64(t.survived) / float64(max(1, tried))
}

func (s *summary) print(out io.Writer) {
	for i, b := range s.survivors {
		fmt.Fprintf(out, "%s: %s\n\t= %s\n", s.outcomes[i], b, b.description())
	}
	for _, d := range s.stale {
		fmt.Fprintf(out, "listed as making no difference, and not there any more: %s\n", d)
	}
	for _, t := range s.left {
		fmt.Fprintf(out, "fails without any bug here, and was left out: %s\n", t)
	}
	fmt.Fprintf(out, "%-10s %6s %8s %10s %10s %13s %8s\n", "area", "bugs", "killed", "timed out", "survived", "no difference", "untried")
	for _, a := range areas {
		if t := s.areas[a.name]; t != nil {
			t.print(out, a.name)
		}
	}
	s.total.print(out, "all")
	fmt.Fprintf(out, "a sample of %d of %d bugs; at most %d %% may survive\n", s.total.bugs, s.points, maxSurvivors)
}

func (t *tally) print(out io.Writer, name string) {
	fmt.Fprintf(out, "%-10s %6d %8d %10d %4d %4.1f%% %13d %8d\n", name, t.bugs, t.killed, t.timedOut, t.survived, t.rate(), t.equivalent, t.untried)
}

// exitUntried is the exit code of a run that was ended before every bug was tried.
const exitUntried = 3

// code is the exit code: 1 if too much survived, or is listed without being there.
func (s *summary) code() int {
	switch {
	case s.total.untried > 0:
		return exitUntried
	case s.total.rate() > maxSurvivors || len(s.stale) > 0:
		return 1
	}
	return 0
}
