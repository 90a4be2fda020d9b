package beliefs

import (
	"testing"

	"github.com/lockproof/lockproof/internal/drawn"
	"github.com/lockproof/lockproof/model/linear"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// TestGoneMayFree: if a lock's design is unknown, a client's answers count until its connection ends.
func TestGoneMayFree(t *testing.T) {
	want := map[string]property.Set{
		"told so though another holds it":                          1<<property.MutualExclusion | 1<<property.StaleBeliefEnds,
		"told so, and granted to another":                          1 << property.MutualExclusion,
		"told yes while another had it all along":                  1 << property.MutualExclusion,
		"not given up in a verify":                                 1 << property.MutualExclusion,
		"administration busy though nobody does anything":          1 << property.Progress,
		"administration busy though there is something to destroy": 1 << property.Progress,
	}
	for _, c := range drawn.GoneMayFree {
		h := drawn.Script(t, lock.Mutex, 0, c.Text)
		h.GoneMayFree = true
		var broken property.Set
		for _, v := range judge(h, linear.Options{}) {
			if v.Decision == linear.Illegal {
				broken = broken.With(v.Property)
			}
		}
		if broken != want[c.Name] {
			t.Errorf("%s: broken are %v, expected %v", c.Name, broken.Names(), want[c.Name].Names())
		}
	}
}

// TestReadingsOfReleases: Options say whether a failed release ends a belief, and whether one client may release
// another's mutex.
func TestReadingsOfReleases(t *testing.T) {
	want := map[string]struct{ ends, keeps, anybody linear.Decision }{
		"by another": {linear.Illegal, linear.Illegal, linear.Legal},
		"by another, while the holder releases it too":                 {linear.Legal, linear.Legal, linear.Legal},
		"by another, and the holder's release meets the next holder's": {linear.Illegal, linear.Illegal, linear.Legal},
		"of what nobody holds":                                         {linear.Legal, linear.Legal, linear.Legal},
		"without an answer":                                            {linear.Illegal, linear.Illegal, linear.Legal},
		"failed":                                                       {linear.Legal, linear.Illegal, linear.Legal},
		"failed, after another was told yes":                           {linear.Legal, linear.Illegal, linear.Legal},
	}
	for _, c := range drawn.Releases {
		h := drawn.Script(t, lock.Mutex, 0, c.Text)
		for o, want := range map[linear.Options]linear.Decision{
			{}: want[c.Name].ends, {FailedRelease: linear.KeepsBelief}: want[c.Name].keeps, {Releases: linear.ByAnyone}: want[c.Name].anybody,
		} {
			for _, v := range judge(h, o) {
				if v.Property == property.MutualExclusion && v.Decision != want {
					t.Errorf("%s: by %s, and a failed one %s belief: %s, expected %s: %s", c.Name, o.Releases, o.FailedRelease, v.Decision, want, v.Why)
				}
			}
		}
	}
}
