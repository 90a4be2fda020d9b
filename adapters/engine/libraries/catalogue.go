// Package libraries judges published lock libraries. A catalogue file lists the libraries, and the results are written
// as a table.
package libraries

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/lockproof/lockproof/adapters/engine/gated"
	"github.com/lockproof/lockproof/histories/infile"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// Library is an entry of the catalogue: a published lock library and its adapter.
type Library struct {
	Name    string `yaml:"library"`
	Version string `yaml:"version"`
	// Language is the programming language of the library.
	Language string `yaml:"language"`
	// By says how the library is installed: "npm", "go" or "debian"; "" if unknown. Package is its name in that package
	// manager.
	By      string `yaml:"by"`
	Package string `yaml:"package"`
	Server  string `yaml:"server"`  // kind of server; one of [gated.Kinds]
	Servers int    `yaml:"servers"` // number of servers that the lock uses; 0 means one
	Lock    string `yaml:"lock"`    // type of the lock; "" means a mutex
	Exec    string `yaml:"exec"`    // command of the library's adapter; it runs in the catalogue's folder
	// Known are the confirmed findings in this version of the library.
	Known []Known `yaml:"known"`
}

// Known is a confirmed violation of a property by a library.
type Known struct {
	Property string `yaml:"property"`
	Says     string `yaml:"says"` // what happens, in one or two sentences
	// Against quotes what the library's documentation says about the finding, and where; "" if it says nothing.
	Against string `yaml:"against"`
	// Stock says how often the finding was reproduced on stock servers, and in how many rounds. "" means that it was
	// confirmed only by reading the source.
	Stock string `yaml:"stock"`
	// Issue is the issue that reports the finding, as OWNER/REPOSITORY#NUMBER; "" if no issue is known.
	Issue string `yaml:"issue"`
}

// String describes the finding in sentences.
func (k *Known) String() string {
	all := []string{k.Property + ": " + k.Says}
	if k.Against != "" {
		all = append(all, "What it says of that itself: "+k.Against)
	}
	if k.Stock != "" {
		all = append(all, "On stock servers: "+k.Stock)
	}
	if k.Issue != "" {
		all = append(all, "Reported as "+k.Issue+".")
	}
	return strings.Join(all, " ")
}

// Title is the library's name and version.
func (l *Library) Title() string { return l.Name + " " + l.Version }

// On names the library's servers, for example "5 × redis".
func (l *Library) On() string {
	if l.Servers > 1 {
		return fmt.Sprintf("%d × %s", l.Servers, l.Server)
	}
	return l.Server
}

// Kind is the type of the library's lock.
func (l *Library) Kind() lock.Kind {
	kind, err := lock.KindNamed(l.Lock)
	if err != nil {
		return lock.Mutex
	}
	return kind
}

// known returns the properties for which a violation is confirmed.
func (l *Library) known() (set property.Set) {
	for _, k := range l.Known {
		if p, err := property.Named(k.Property); err == nil {
			set = set.With(p)
		}
	}
	return set
}

// reports lists the issues that report the confirmed findings.
func (l *Library) reports() (all []string) {
	for _, k := range l.Known {
		if k.Issue != "" && !slices.Contains(all, k.Issue) {
			all = append(all, k.Issue)
		}
	}
	return all
}

// input limits the size of a catalogue file to 1 MiB.
var input = infile.Input{Noun: "catalogue of libraries", Most: 1 << 20}

// mostLibraries is the maximum number of libraries in a catalogue file.
const mostLibraries = 1000

// Load reads a catalogue. An error names the file and, if possible, the library.
func Load(path string) ([]Library, error) {
	data, err := input.Read(path)
	if err != nil {
		return nil, err
	}
	all, err := decode(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return all, nil
}

// decode decodes the text of a catalogue.
func decode(data []byte) (all []Library, err error) {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	decoder.KnownFields(true)
	switch err := decoder.Decode(&all); {
	case errors.Is(err, io.EOF) || err == nil && len(all) == 0:
		return nil, errors.New("no library: expected a list of them, each with library, version, server and exec")
	case err != nil:
		return nil, errors.New(strings.ReplaceAll(err.Error(), "\n", " "))
	case len(all) > mostLibraries:
		return nil, fmt.Errorf("%d libraries: expected at most %d", len(all), mostLibraries)
	}
	seen := make(map[string]bool)
	for i := range all {
		l := &all[i]
		if err := l.check(); err != nil {
			return nil, fmt.Errorf("library %d, %s: %w", i+1, l.Title(), err)
		}
		if key := l.Title() + l.On(); seen[key] {
			return nil, fmt.Errorf("library %d, %s: it is there twice", i+1, l.Title())
		} else {
			seen[key] = true
		}
	}
	return all, nil
}

// check returns an error if the entry is invalid.
func (l *Library) check() error {
	for name, value := range map[string]string{"library": l.Name, "version": l.Version, "server": l.Server, "exec": l.Exec} {
		if strings.TrimSpace(value) == "" {
			return fmt.Errorf("no %q: expected library, version, server and exec", name)
		}
	}
	if l.Lock != "" {
		if _, err := lock.KindNamed(l.Lock); err != nil {
			return err
		}
	}
	if _, ok := ecosystems[l.By]; !ok && l.By != "" {
		return fmt.Errorf("by %q: expected %s", l.By, strings.Join(slices.Sorted(maps.Keys(ecosystems)), " or "))
	}
	if (l.By == "") != (l.Package == "") {
		return errors.New("expected both by and package, or neither")
	}
	return errors.Join(l.checkKnown(), gated.CheckServers(l.Server, l.Servers))
}

// issues matches the name of an issue: OWNER/REPOSITORY#NUMBER.
var issues = regexp.MustCompile(`^[\w.-]+/[\w.-]+#\d+$`)

// checkKnown returns an error if a known finding of the entry is invalid.
func (l *Library) checkKnown() error {
	for _, k := range l.Known {
		if _, err := property.Named(k.Property); err != nil {
			return fmt.Errorf("known: %w", err)
		}
		if k.Issue != "" && !issues.MatchString(k.Issue) {
			return fmt.Errorf("known: the issue %q: expected OWNER/REPOSITORY#NUMBER", k.Issue)
		}
	}
	return nil
}
