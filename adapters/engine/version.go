package engine

import (
	"regexp"
	"runtime/debug"
	"strings"
)

// Version is the version of the tool, shown in reports and counterexamples. It is the first of these that is known: the
// version that the build sets, the module's version that Go fetched or tagged, the version in the sources. A build sets
// it with
//
//	go build -ldflags '-X github.com/lockproof/lockproof/adapters/engine.stamped=0.2.0' ./cmd/lockproof
var Version = versionOf(stamped, buildInfo())

// sources is the version in the sources: the release that they are developed towards.
const sources = "0.1.0"

// stamped is the version that the build sets with -ldflags; "" if it sets none.
var stamped string

// module is the path of this module in build information.
const module = "github.com/lockproof/lockproof"

func buildInfo() *debug.BuildInfo {
	info, _ := debug.ReadBuildInfo()
	return info
}

// pseudo matches versions that Go makes up for a commit without a tag. Such a version says less than [sources], so that
// it is not used; `lockproof version` prints the commit as well.
var pseudo = regexp.MustCompile(`\d{14}-[0-9a-f]{12}|\+dirty$`)

// versionOf returns the version of a build. info may be nil. This module is either the program's main module or a
// dependency.
func versionOf(stamped string, info *debug.BuildInfo) string {
	if stamped != "" {
		return strings.TrimPrefix(stamped, "v")
	}
	if info == nil {
		return sources
	}
	for _, m := range append([]*debug.Module{&info.Main}, info.Deps...) {
		if m.Path != module || !strings.HasPrefix(m.Version, "v") || pseudo.MatchString(m.Version) {
			continue
		}
		return strings.TrimPrefix(m.Version, "v")
	}
	return sources
}
