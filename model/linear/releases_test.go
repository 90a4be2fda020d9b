package linear

import (
	"testing"

	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
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
				property property.Property
				o        Options
				want     Decision
			}{
				{"by the holder", property.Linearizable, Options{}, c.byHolder},
				{"by anyone", property.Linearizable, Options{Releases: ByAnyone}, c.byAnyone},
				{"a failed one ends", property.MutualExclusion, Options{}, c.ends},
				{"a failed one keeps", property.MutualExclusion, Options{FailedRelease: KeepsBelief}, c.keeps},
				{"beliefs, by anyone", property.MutualExclusion, Options{Releases: ByAnyone}, c.anybody},
			} {
				for _, got := range Judge(h, v.o) {
					if got.Property == v.property && got.Decision != v.want {
						t.Errorf("%s: %s is %s, expected %s: %s", v.what, v.property, got.Decision, v.want, got.Why)
					}
				}
				if _, r := decide(t, new(Checker), h, v.o); disagree(Finding{}, r) {
					t.Errorf("%s: search and porcupine say %v", v.what, r)
				}
			}
		})
	}
}

// TestVerifiedWhereAnyoneReleases: a slot that is verified has to be there, and the client's own, whoever may have
// released it.
func TestVerifiedWhereAnyoneReleases(t *testing.T) {
	const held = "c1 acquire\nc1 ok acquire 1\n"
	for _, c := range []struct {
		name, text string
		want       Decision
	}{
		{"held", held + "c1 verify 1\nc1 ok verify 1\n", Legal},
		{"removed", held + "c2 remove 1\nc2 ok remove\nc1 verify 1\nc1 ok verify 1\n", Illegal},
		{"being removed", held + "c2 remove 1\nc1 verify 1\nc2 ok remove\nc1 ok verify 1\n", Legal},
		{"released by another", held + "c2 release 1\nc2 ok release 1\nc1 verify 1\nc1 ok verify 1\n", Illegal},
		{"released by another, who took it, and removed", held + "c2 release 1\nc2 ok release 1\nc2 acquire\nc2 ok acquire 1\nc3 remove 1\nc3 ok remove\nc1 verify 1\nc1 ok verify 1 removed\n", Legal},
		{"another's", held + "c2 verify 1\nc2 ok verify 1\n", Illegal},
	} {
		h := script(t, lock.Semaphore, 1, c.text)
		f, others := decide(t, new(Checker), h, Options{Releases: ByAnyone})
		if others[0] != c.want || disagree(f, others) {
			t.Errorf("%s: %v, expected %s", c.name, others, c.want)
		}
	}
}
