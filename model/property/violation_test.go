package property_test

import (
	"testing"

	"github.com/lockproof/lockproof/model/property"
)

// TestNamedOnce: the text of a violation names its client once, even if the detail begins with the client's name.
func TestNamedOnce(t *testing.T) {
	for detail, want := range map[string]string{
		"gave up":                      "c1: gave up",
		"c1 found administration busy": "c1 found administration busy",
		"c1's acquire gave up":         "c1's acquire gave up",
		"c12 holds it":                 "c1: c12 holds it",
		"c2 holds it":                  "c1: c2 holds it",
	} {
		if got := (property.Violation{Property: property.Progress, Client: 1, Detail: detail}).Explain(); got != want {
			t.Errorf("%q is explained as %q, expected %q", detail, got, want)
		}
	}
}
