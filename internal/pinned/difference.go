package pinned

import (
	"fmt"
	"strings"
)

// Limits of what is shown of a difference.
const (
	mostLines     = 60
	mostLineBytes = 600       // maximum bytes shown of a line
	mostCells     = 4_000_000 // maximum number of cells of the table for finding common lines
)

// Difference returns the lines in which two texts differ: "-" precedes a line of the old text, "+" a line of the new
// text. Line numbers are those of the new text.
func Difference(was, is string) string {
	a, b := strings.Split(was, "\n"), strings.Split(is, "\n")
	start := 0
	for start < min(len(a), len(b)) && a[start] == b[start] {
		start++
	}
	a, b = a[start:], b[start:]
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	var out []string
	next := -1 // index in b after the last line that was shown
	show := func(sign, line string, at int) {
		if at != next {
			out = append(out, fmt.Sprintf("@ line %d", start+at+1))
		}
		if next = at; sign == "+" {
			next++
		}
		if len(line) > mostLineBytes {
			line = line[:mostLineBytes] + "…"
		}
		out = append(out, sign+line)
	}
	edit(a, b, show)
	if more := len(out) - mostLines; more > 0 {
		out = append(out[:mostLines], fmt.Sprintf("and %d more lines", more))
	}
	return strings.Join(out, "\n")
}

// edit calls show for each line that is only in a ("-") or only in b ("+"), with its index in b. It computes a
// longest common subsequence of lines; if the texts are too long for that, it shows all lines of both.
func edit(a, b []string, show func(sign, line string, at int)) {
	common := make([][]int32, len(a)+1) // common[i][j] is the number of lines that a[i:] and b[j:] have in common
	if len(a)*len(b) <= mostCells {
		for i := range common {
			common[i] = make([]int32, len(b)+1)
		}
		for i := len(a) - 1; i >= 0; i-- {
			for j := len(b) - 1; j >= 0; j-- {
				if common[i][j] = max(common[i+1][j], common[i][j+1]); a[i] == b[j] {
					common[i][j] = common[i+1][j+1] + 1
				}
			}
		}
	}
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && (common[i] == nil || common[i+1][j] >= common[i][j+1]):
			show("-", a[i], j)
			i++
		default:
			show("+", b[j], j)
			j++
		}
	}
}
