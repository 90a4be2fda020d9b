package spec

import (
	"testing"

	"github.com/lockproof/lockproof/model/lock"
)

// TestReadingsOfReleases: what is said of a mutex that somebody else releases, and of a release that failed.
func TestReadingsOfReleases(t *testing.T) {
	for _, c := range []struct {
		name                 string
		text                 string
		byHolder, byAnyone   Decision // linearizable
		ends, keeps, anybody Decision // mutual-exclusion: by holder, with either reading of what failed; by anyone
	}{
		{"by another", `
			c1 acquire
			c1 ok acquire 1
			c2 release 1
			c2 ok release 1
			c3 acquire
			c3 ok acquire 1`, Illegal, Legal, Illegal, Illegal, Legal},
		{"by another, while the holder releases it too", `
			c1 acquire
			c1 ok acquire 1
			c2 release 1
			c1 release 1
			c1 ok release 1
			c2 ok release 1`, Illegal, Illegal, Legal, Legal, Legal},
		{"by another, and the holder's release meets the next holder's", `
			c1 acquire
			c1 ok acquire 1
			c2 release 1
			c2 ok release 1
			c2 acquire
			c2 ok acquire 1
			c1 release 1
			c1 ok release 1
			c3 acquire
			c3 ok acquire 1`, Illegal, Legal, Illegal, Illegal, Legal},
		{"of what nobody holds", `
			c1 release 1
			c1 ok release 1`, Illegal, Illegal, Legal, Legal, Legal},
		{"without an answer", `
			c1 acquire
			c1 ok acquire 1
			c2 release 1
			c2 info release
			c3 acquire
			c3 ok acquire 1
			gone c9`, Illegal, Legal, Illegal, Illegal, Legal},
		{"failed", `
			c1 acquire
			c1 ok acquire 1
			c1 release 1
			c1 fail release
			c2 acquire
			c2 ok acquire 1`, Illegal, Illegal, Legal, Illegal, Legal},
		{"failed, after another was told yes", `
			c1 acquire
			c1 ok acquire 1
			c1 release 1
			c2 acquire
			c2 ok acquire 1
			c1 fail release`, Illegal, Illegal, Legal, Illegal, Legal},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := script(t, lock.Mutex, 0, c.text)
			for _, v := range []struct {
				what     string
				property Property
				o        LinearizableOptions
				want     Decision
			}{
				{"by the holder", Linearizable, LinearizableOptions{}, c.byHolder},
				{"by anyone", Linearizable, LinearizableOptions{Releases: ByAnyone}, c.byAnyone},
				{"a failed one ends", MutualExclusion, LinearizableOptions{}, c.ends},
				{"a failed one keeps", MutualExclusion, LinearizableOptions{Failed: KeepsBelief}, c.keeps},
				{"beliefs, by anyone", MutualExclusion, LinearizableOptions{Releases: ByAnyone}, c.anybody},
			} {
				for _, got := range CheckHistory(h, v.o) {
					if got.Property == v.property && got.Decision != v.want {
						t.Errorf("%s: %s is %s, expected %s: %s", v.what, v.property, got.Decision, v.want, got.Why)
					}
				}
				if _, r := decide(t, new(Checker), h, v.o); disagree(Finding{}, r) {
					t.Errorf("%s: search and porcupine say %s", v.what, r)
				}
			}
		})
	}
}
