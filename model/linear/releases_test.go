package linear

import (
	"testing"

	"github.com/lockproof/lockproof/internal/drawn"
	"github.com/lockproof/lockproof/model/lock"
)

// TestReadingsOfReleases checks histories of a mutex in which a client releases another client's hold, or a release
// fails. Each is judged under both choices of who may release.
func TestReadingsOfReleases(t *testing.T) {
	want := map[string]struct{ byHolder, byAnyone Decision }{
		"by another": {Illegal, Legal},
		"by another, while the holder releases it too":                 {Illegal, Illegal},
		"by another, and the holder's release meets the next holder's": {Illegal, Legal},
		"of what nobody holds":                                         {Illegal, Illegal},
		"without an answer":                                            {Illegal, Legal},
		"failed":                                                       {Illegal, Illegal},
		"failed, after another was told yes":                           {Illegal, Illegal},
	}
	for _, c := range drawn.Releases {
		t.Run(c.Name, func(t *testing.T) {
			h := drawn.Script(t, lock.Mutex, 0, c.Text)
			for o, expected := range map[Options]Decision{{}: want[c.Name].byHolder, {Releases: ByAnyone}: want[c.Name].byAnyone} {
				if f, others := decide(t, new(Checker), h, o); f.Decision != Undecided && f.Decision != expected || others[0] != expected || disagree(f, others) {
					t.Errorf("%+v: the fast check says %s, the others %v, expected %s", o, f.Decision, others, expected)
				}
			}
		})
	}
}

// TestVerifiedWhereAnyoneReleases: even if any client may release, a client may verify only a slot that exists and that
// it holds itself.
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
		h := drawn.Script(t, lock.Semaphore, 1, c.text)
		f, others := decide(t, new(Checker), h, Options{Releases: ByAnyone})
		if others[0] != c.want || disagree(f, others) {
			t.Errorf("%s: %v, expected %s", c.name, others, c.want)
		}
	}
}
