package engine

import (
	"regexp"
	"runtime/debug"
	"strings"
)

// Version is the version of the tool, in reports and counterexamples. It is the one that the build sets, else that of the
// module as Go fetched or tagged it, else that of the sources. A build sets it by
//
//	go build -ldflags '-X github.com/lockproof/lockproof/adapters/engine.stamped=0.2.0' ./cmd/lockproof
var Version = versionOf(stamped, buildInfo())

// sources is the version that these sources lead to.
const sources = "0.1.0"

// stamped is what -ldflags sets.
var stamped string

// module is the path under which build information has this module.
const module = "github.com/lockproof/lockproof"

func buildInfo() *debug.BuildInfo {
	info, _ := debug.ReadBuildInfo()
	return info
}

// pseudo are versions that Go makes of a commit that has no tag: they say less than [sources], and `lockproof version`
// has the commit beside it.
var pseudo = regexp.MustCompile(`\d{14}-[0-9a-f]{12}|\+dirty$`)

// versionOf is the version of a build; info may be nil. The module is the program's own, or one that it uses.
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
