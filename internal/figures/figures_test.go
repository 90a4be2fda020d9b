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

// figure is a table of measurements, and a section of the page.
type figure struct {
	title string
	about string // what is measured, in one or two sentences
	how   string // another command or test that measures the same
	cores string
	ratio string // title of the column of ratios, such as "times as fast"
	times bool   // a case's ratio is the first case's cost divided by its own cost; otherwise the inverse
	once  bool   // measure only one round, as a round takes long
	// need returns what is missing on this machine to measure the figure; "" if nothing is. It may be nil.
	need func() string
	// round measures each case once. A case has the same name in each round.
	round func(t *testing.T, s scale) []measured
}

// measured is the cost of one case, for example in seconds or bytes.
type measured struct {
	name string
	cost float64
	note string // a remark for the table; may be ""
	none string // why the case has no ratio; "" if it has one
}

// scale is the size of a measurement.
type scale struct {
	tiny bool
	long bool
}

// of returns tiny if the scale is tiny, otherwise usual.
func (s scale) of(usual, tiny int) int {
	if s.tiny {
		return tiny
	}
	return usual
}

// figures are all figures, in the order of the page.
var figures = slices.Concat(searchFigures, historyFigures, gateFigures)

// TestMain runs the tests. If an environment variable asks for it, the process writes a history instead.
func TestMain(m *testing.M) {
	if crowd := os.Getenv(crowdVariable); crowd != "" {
		writeCrowd(crowd)
		return
	}
	os.Exit(m.Run())
}

// TestFigures measures the figures and writes the page. Without -measure it only checks that each figure can be
// measured.
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

// TestPageIsOfTheseFigures: the page has exactly one section for each figure.
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

// measure measures a figure and returns its table, in Markdown.
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

// table returns a Markdown table with the median ratio of each case to the first case.
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

// ratioOf returns the median ratio of the i-th case. Rounds in which that case or the first case has no cost are
// ignored.
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

// digits formats a ratio with two or three significant digits.
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

// processor returns the processor time that this process uses while f runs, in seconds. Other programs on the machine
// affect it less than the elapsed time.
func processor(f func()) float64 {
	runtime.GC() // so that earlier garbage is not counted
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

// clock returns the elapsed time of f, in seconds.
func clock(f func()) float64 {
	began := time.Now()
	f()
	return time.Since(began).Seconds()
}
