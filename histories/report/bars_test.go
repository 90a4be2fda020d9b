package report

import (
	"math"
	"regexp"
	"strconv"
	"testing"
	"time"
)

var (
	ticks  = regexp.MustCompile(`<line class="scale" x1="([0-9.]+)"`)
	labels = regexp.MustCompile(`<text class="soft" x="([0-9.]+)" y="[0-9.]+" text-anchor="(\w+)">([^<]+)</text>`)
)

// TestBarsLabelled: a chart has a line for each power of ten in its range. The first and the last are labelled within
// the chart, and so are those in between for which there is room.
func TestBarsLabelled(t *testing.T) {
	for low := range 6 {
		for span := 1; span <= 8; span++ {
			least, most := time.Duration(math.Pow10(low)), time.Duration(math.Pow10(low+span))
			chart := string(drawBars("acquire", []bar{{"a", Distribution{Min: least, P10: least, P50: most, P90: most, P99: most}}}))
			if n := len(ticks.FindAllString(chart, -1)); n != span+1 {
				t.Errorf("from %v to %v: %d lines", least, most, n)
			}
			all := labels.FindAllStringSubmatch(chart, -1)
			at := func(i int) float64 {
				x, err := strconv.ParseFloat(all[i][1], 64)
				if err != nil {
					t.Fatal(err)
				}
				return x
			}
			last, want := len(all)-1, span+1
			if span >= 5 {
				want -= 2
			}
			if len(all) != want || all[0][2] != "start" || all[0][3] != round(least) || all[last][2] != "end" || all[last][3] != round(most) {
				t.Fatalf("from %v to %v: labels %v", least, most, all)
			}
			if at(0) != chartMargin || at(last) != chartWidth-chartMargin || at(1)-at(0) < 70 || at(last)-at(last-1) < 70 {
				t.Errorf("from %v to %v: labels run into one another: %v", least, most, all)
			}
			for _, l := range all[1:last] {
				if l[2] != "middle" {
					t.Errorf("from %v to %v: label %v", least, most, l)
				}
			}
		}
	}
}
