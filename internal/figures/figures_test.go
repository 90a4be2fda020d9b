//go:build unix

package figures

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

var (
	measuring = flag.Bool("measure", false, "measure, and write the page")
	long      = flag.Bool("long", false, "measure also what takes most of an hour")
	only      = flag.String("only", "", "measure only figures whose title this regular expression matches; the page keeps the others")
	rounds    = flag.Int("rounds", 3, "how often each figure is measured")
)

// figure is a section of the page.
type figure struct {
	title string
	about string // what is measured, in one or two sentences
	how   string // the command or test that measures the same by itself
	cores string
	ratio string // the column of ratios: what is compared with the first case
	times bool   // the ratio is how many times as good as the first case; otherwise how many times as much as it
	once  bool   // it takes so long that one round has to do
	// need is what is missing on this machine, "" for nothing. It may be nil.
	need func() string
	// round measures each case once. A case has the same name in each round.
	round func(t *testing.T, s scale) []measured
}

// measured is what a case has cost, in any unit.
type measured struct {
	name string
	cost float64
	note string // what else there is to say
	none string // why it has no ratio; "" if it has one
}

// scale says how large a round is.
type scale struct {
	tiny bool
	long bool
}

// of is the usual size, or the tiny one.
func (s scale) of(usual, tiny int) int {
	if s.tiny {
		return tiny
	}
	return usual
}

// figures are those of the page, in its order.
var figures = slices.Concat(searchFigures, historyFigures, gateFigures)

// TestMain writes a history instead, where a figure has it do so.
func TestMain(m *testing.M) {
	if crowd := os.Getenv(crowdVariable); crowd != "" {
		writeCrowd(crowd)
		return
	}
	os.Exit(m.Run())
}

// TestFigures measures figures and writes the page, or tries whether each can be measured.
func TestFigures(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: -short leaves out figures")
	}
	wanted, err := regexp.Compile(*only)
	if err != nil {
		t.Fatal(err)
	}
	for i := range figures {
		f := &figures[i]
		if !wanted.MatchString(f.title) {
			continue
		}
		t.Run(f.title, func(t *testing.T) {
			if !*measuring {
				try(t, f)
				return
			}
			table := measure(t, f)
			p := readPage(t)
			p.put(f, table)
			p.write(t)
		})
	}
}

// TestPageIsOfTheseFigures: the page has a section for each figure, and no other one.
func TestPageIsOfTheseFigures(t *testing.T) {
	p := readPage(t)
	for _, f := range figures {
		if body := p.sections[f.title]; !strings.HasPrefix(body, wrap(f.about)) || !strings.Contains(body, "Measured by "+f.how) {
			t.Errorf("the page does not have the figure %q as it is, measured by %s: make figures", f.title, f.how)
		}
		delete(p.sections, f.title)
	}
	for title := range p.sections {
		t.Errorf("the page has a figure %q, which there is not", title)
	}
}

// try measures a figure once, at a tiny size.
func try(t *testing.T, f *figure) {
	if f.need != nil {
		if missing := f.need(); missing != "" {
			t.Skip("NOT TRIED: " + missing)
		}
	}
	for _, m := range f.round(t, scale{tiny: true}) {
		if m.none == "" && m.cost <= 0 {
			t.Errorf("%s: it has cost %v", m.name, m.cost)
		}
	}
}

// measure is a figure's table.
func measure(t *testing.T, f *figure) string {
	if f.need != nil {
		if missing := f.need(); missing != "" {
			return "Not measured: " + missing + "\n"
		}
	}
	n := *rounds
	if f.once {
		n = 1
	}
	var all [][]measured
	for range n {
		all = append(all, f.round(t, scale{long: *long}))
	}
	return table(f, all)
}

// table shows the median of each case's ratios to the first case of its round.
func table(f *figure, all [][]measured) string {
	var b strings.Builder
	notes := slices.ContainsFunc(all[0], func(m measured) bool { return m.note != "" })
	b.WriteString("| case | " + f.ratio + " |")
	rule := "| --- | ---: |"
	if notes {
		b.WriteString(" |")
		rule += " --- |"
	}
	b.WriteString("\n" + rule + "\n")
	for i, m := range all[0] {
		said := m.none
		if said == "" {
			said = ratioOf(f, all, i)
		}
		fmt.Fprintf(&b, "| %s | %s |", m.name, said)
		if notes {
			fmt.Fprintf(&b, " %s |", m.note)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// ratioOf is the median of a case's ratios. A round in which it has none, or the first case has none, is left out.
func ratioOf(f *figure, all [][]measured, i int) string {
	var ratios []float64
	for _, round := range all {
		if first, m := round[0], round[i]; first.none == "" && m.none == "" {
			r := m.cost / first.cost
			if f.times {
				r = 1 / r
			}
			ratios = append(ratios, r)
		}
	}
	if len(ratios) == 0 {
		return "–"
	}
	slices.Sort(ratios)
	return digits(ratios[len(ratios)/2])
}

// digits is a ratio with two or three digits that mean something.
func digits(r float64) string {
	switch {
	case r >= 100:
		return fmt.Sprintf("%.0f", r)
	case r >= 10:
		return fmt.Sprintf("%.1f", r)
	case r >= 0.1:
		return fmt.Sprintf("%.2f", r)
	}
	return fmt.Sprintf("%.2g", r)
}

// processor is how long the processor is at work for this process while f runs, in seconds. Neighbours on the machine
// change it less than the time by the clock.
func processor(f func()) float64 {
	runtime.GC() // what was before is not counted
	before := used()
	f()
	return (used() - before).Seconds()
}

func used() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// clock is how long f takes by the clock, in seconds.
func clock(f func()) float64 {
	began := time.Now()
	f()
	return time.Since(began).Seconds()
}
