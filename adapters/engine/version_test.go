package engine

import (
	"os"
	"runtime/debug"
	"testing"

	"go.yaml.in/yaml/v3"
)

// TestVersion checks which version wins: first the version set by the build, then the module's version known to Go,
// then the version in the sources.
func TestVersion(t *testing.T) {
	of := func(path, version string, deps ...*debug.Module) *debug.BuildInfo {
		return &debug.BuildInfo{Main: debug.Module{Path: path, Version: version}, Deps: deps}
	}
	for _, test := range []struct {
		stamped string
		info    *debug.BuildInfo
		want    string
	}{
		{"", nil, sources},
		{"", of(module, "(devel)"), sources},
		{"", of(module, ""), sources},
		{"", of(module, "v0.2.1"), "0.2.1"},
		{"", of(module, "v0.3.0-rc.1"), "0.3.0-rc.1"},
		{"", of(module, "v0.0.0-20261122115900-420d95f0a1b2"), sources},
		{"", of(module, "v0.2.2-0.20261122115900-420d95f0a1b2+dirty"), sources},
		{"", of(module, "v0.2.1+dirty"), sources},
		{"", of("example.org/locks", "v7.0.0", &debug.Module{Path: module, Version: "v0.2.1"}), "0.2.1"},
		{"v0.4.0", of(module, "v0.2.1"), "0.4.0"},
		{"0.4.0-next", nil, "0.4.0-next"},
	} {
		if got := versionOf(test.stamped, test.info); got != test.want {
			t.Errorf("%q, %+v: %s, expected %s", test.stamped, test.info, got, test.want)
		}
	}
}

// TestCitation checks that the version in CITATION.cff is the version in the sources.
func TestCitation(t *testing.T) {
	data, err := os.ReadFile("../../CITATION.cff")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Format  string           `yaml:"cff-version"`
		Message string           `yaml:"message"`
		Title   string           `yaml:"title"`
		Version string           `yaml:"version"`
		Code    string           `yaml:"repository-code"`
		Authors []map[string]any `yaml:"authors"`
	}
	if err := yaml.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	if file.Version != sources || file.Format == "" || file.Message == "" || file.Title == "" || len(file.Authors) == 0 || file.Code != "https://"+module {
		t.Errorf("%+v, expected version %s of %s", file, sources, module)
	}
}
