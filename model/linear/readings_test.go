package linear

import "testing"

// TestReadingsNamed: each choice is found by its name, and an unknown name is an error.
func TestReadingsNamed(t *testing.T) {
	for r := ByHolder; r <= ByAnyone; r++ {
		if got, err := ReleasesNamed(r.String()); got != r || err != nil {
			t.Errorf("%s: %s, %v", r, got, err)
		}
	}
	for f := EndsBelief; f <= KeepsBelief; f++ {
		if got, err := FailedReleaseNamed(f.String()); got != f || err != nil {
			t.Errorf("%s: %s, %v", f, got, err)
		}
	}
	for _, name := range []string{"", "rejects", "keep", "Allow"} {
		if _, err := ReleasesNamed(name); err == nil {
			t.Errorf("%q is a reading of releases", name)
		}
		if _, err := FailedReleaseNamed(name); err == nil {
			t.Errorf("%q is a reading of releases that failed", name)
		}
	}
}
