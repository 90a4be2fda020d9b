package report

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestContrast: text on a page has a contrast of at least 4.5 with its background, in light, in dark and in print.
func TestContrast(t *testing.T) {
	css, err := pageFiles.ReadFile("page/page.css")
	if err != nil {
		t.Fatal(err)
	}
	text, dark, _ := strings.Cut(string(css), "prefers-color-scheme: dark")
	dark, rest, _ := strings.Cut(dark, "\n}\n")
	_, print, _ := strings.Cut(rest, "@media print")
	light := variables(text)
	printed := over(light, variables(print))
	table, err := pageFiles.ReadFile("page/sweep.html")
	if err != nil {
		t.Fatal(err)
	}
	_, tables, _ := strings.Cut(string(table), "@media print")
	if left := colour.FindString(variable.ReplaceAllString(string(css), "")); left != "" {
		t.Errorf("the style sheet has the colour %s, whose contrast nobody looks at", left)
	}
	for name, colours := range map[string]map[string]float64{
		"light": light, "dark": over(light, variables(dark)), "print": printed, "tables printed": over(printed, variables(tables)),
	} {
		colourNames := []string{"text", "soft", "good", "bad", "warn", "c1", "c2", "c3", "c4", "c5", "c6", "c7", "c8"}
		for _, of := range colourNames {
			for _, ground := range []string{"paper", "panel"} {
				contrast(t, name, colours, of, ground)
			}
		}
		for _, of := range []string{"text", "bad", "soft"} {
			contrast(t, name, colours, of, "bad-band")
		}
		for _, of := range []string{"text", "warn", "soft"} {
			contrast(t, name, colours, of, "warn-band")
		}
	}
}

func contrast(t *testing.T, name string, colours map[string]float64, of, ground string) {
	t.Helper()
	a, b := colours[of], colours[ground]
	if a == b {
		t.Errorf("%s: %s on %s: the colours are not known, or the same", name, of, ground)
	}
	if c := (max(a, b) + 0.05) / (min(a, b) + 0.05); c < 4.5 {
		t.Errorf("%s: %s on %s has a contrast of %.2f", name, of, ground, c)
	}
}

// colour matches a colour in a style sheet that is written out as a number, not by the name of a variable.
var colour = regexp.MustCompile(`: *#[0-9a-f]{3,6}\b`)

var variable = regexp.MustCompile(`--([a-z0-9-]+): (#[0-9a-f]{3,6});`)

// variables are the relative luminances of the colours that a style sheet defines, by the names of the variables.
func variables(css string) map[string]float64 {
	all := make(map[string]float64)
	for _, m := range variable.FindAllStringSubmatch(css, -1) {
		hex := m[2][1:]
		if len(hex) == 3 {
			hex = strings.Join([]string{hex[:1], hex[:1], hex[1:2], hex[1:2], hex[2:], hex[2:]}, "")
		}
		sum := 0.0
		for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
			n, _ := strconv.ParseUint(hex[2*i:2*i+2], 16, 8)
			c := float64(n) / 255
			if c <= 0.04045 {
				c /= 12.92
			} else {
				c = math.Pow((c+0.055)/1.055, 2.4)
			}
			sum += weight * c
		}
		all[m[1]] = sum
	}
	return all
}

// over merges two sets of colours. A colour in above replaces one of the same name in below.
func over(below, above map[string]float64) map[string]float64 {
	all := make(map[string]float64)
	for name, c := range below {
		all[name] = c
	}
	for name, c := range above {
		all[name] = c
	}
	return all
}
