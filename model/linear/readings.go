package linear

import "fmt"

// Releases is who may release a lock.
type Releases uint8

// The readings of a release.
const (
	// ByHolder is that only who holds the lock releases it, as owner-aware models of Jepsen's have it.
	ByHolder Releases = iota
	// ByAnyone: a release returns any client's hold, as with Knossos' mutex. A free lock cannot be released.
	ByAnyone
)

var releasesNames = [...]string{"reject", "allow"}

// String names the reading of releases by other clients.
func (r Releases) String() string { return releasesNames[r] }

// ReleasesNamed is the reading with that name.
func ReleasesNamed(name string) (Releases, error) {
	for r, n := range releasesNames {
		if n == name {
			return Releases(r), nil
		}
	}
	return 0, fmt.Errorf("%q: expected one of %q", name, releasesNames)
}

// FailedRelease is what a failed release implies about its caller's hold.
type FailedRelease uint8

// The readings of a release that failed.
const (
	// EndsBelief is that its client does not believe any more that it holds the lock, as it wanted to be
	// rid of it.
	EndsBelief FailedRelease = iota
	// KeepsBelief is that its client goes on believing so.
	KeepsBelief
)

var failedReleaseNames = [...]string{"ends", "keeps"}

// String is what becomes of the belief.
func (f FailedRelease) String() string { return failedReleaseNames[f] }

// FailedReleaseNamed is the reading with that name.
func FailedReleaseNamed(name string) (FailedRelease, error) {
	for f, n := range failedReleaseNames {
		if n == name {
			return FailedRelease(f), nil
		}
	}
	return 0, fmt.Errorf("%q: expected one of %q", name, failedReleaseNames)
}
