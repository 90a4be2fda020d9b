package linear

import "fmt"

// Releases says who may release a lock.
type Releases uint8

// The answers to who may release a lock.
const (
	// ByHolder says that only the holder releases the lock, as in owner-aware models of Jepsen.
	ByHolder Releases = iota
	// ByAnyone says that a release returns any client's hold, as in Knossos' mutex. A free lock cannot be released.
	ByAnyone
)

var releasesNames = [...]string{"reject", "allow"}

// String says what becomes of releases by other clients.
func (r Releases) String() string { return releasesNames[r] }

// ReleasesNamed is the value with that name.
func ReleasesNamed(name string) (Releases, error) {
	for r, n := range releasesNames {
		if n == name {
			return Releases(r), nil
		}
	}
	return 0, fmt.Errorf("%q: expected one of %q", name, releasesNames)
}

// FailedRelease says what a failed release implies about its caller's belief.
type FailedRelease uint8

// The meanings of a failed release.
const (
	// EndsBelief says that the client no longer believes that it holds the lock, since it wanted to give it up.
	EndsBelief FailedRelease = iota
	// KeepsBelief says that the client still believes that it holds the lock.
	KeepsBelief
)

var failedReleaseNames = [...]string{"ends", "keeps"}

// String says what happens to the belief.
func (f FailedRelease) String() string { return failedReleaseNames[f] }

// FailedReleaseNamed is the value with that name.
func FailedReleaseNamed(name string) (FailedRelease, error) {
	for f, n := range failedReleaseNames {
		if n == name {
			return FailedRelease(f), nil
		}
	}
	return 0, fmt.Errorf("%q: expected one of %q", name, failedReleaseNames)
}
