package linear

import "fmt"

// Releases says which clients may release a lock.
type Releases uint8

// The choices of which clients may release a lock.
const (
	// ByHolder means that only the holder can release the lock, as in owner-aware models of Jepsen.
	ByHolder Releases = iota
	// ByAnyone means that any client can release the lock for its holder, as in Knossos' mutex. A free lock cannot be
	// released.
	ByAnyone
)

var releasesNames = [...]string{"reject", "allow"}

// String is "reject" or "allow": what happens to a release by a client that is not the holder.
func (r Releases) String() string { return releasesNames[r] }

// ReleasesNamed returns the choice with this name, "reject" or "allow".
func ReleasesNamed(name string) (Releases, error) {
	for r, n := range releasesNames {
		if n == name {
			return Releases(r), nil
		}
	}
	return 0, fmt.Errorf("%q: expected one of %q", name, releasesNames)
}

// FailedRelease says whether a client whose release failed still believes that it holds the lock.
type FailedRelease uint8

// The choices of what a failed release means.
const (
	// EndsBelief means that the client no longer believes that it holds the lock, since it wanted to release it.
	EndsBelief FailedRelease = iota
	// KeepsBelief means that the client still believes that it holds the lock.
	KeepsBelief
)

var failedReleaseNames = [...]string{"ends", "keeps"}

// String is "ends" or "keeps": what happens to the client's belief.
func (f FailedRelease) String() string { return failedReleaseNames[f] }

// FailedReleaseNamed returns the choice with this name, "ends" or "keeps".
func FailedReleaseNamed(name string) (FailedRelease, error) {
	for f, n := range failedReleaseNames {
		if n == name {
			return FailedRelease(f), nil
		}
	}
	return 0, fmt.Errorf("%q: expected one of %q", name, failedReleaseNames)
}
