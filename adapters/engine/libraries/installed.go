package libraries

import (
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/lockproof/lockproof/histories/infile"
)

// ecosystem is how libraries are installed.
type ecosystem struct {
	install string // the install command, to run in the catalogue's folder; %s is the package
	// version is the installed version of a package, for a catalogue in a folder. The error says why it is unknown.
	version func(folder, name string) (string, error)
}

// ecosystems are the supported ecosystems, by their names in catalogues.
var ecosystems = map[string]ecosystem{
	"npm":    {"npm ci --prefix node", npmVersion},
	"go":     {"go build -C go -o locks .", goVersion},
	"debian": {"apt-get install %s", debianVersion},
}

// Missing says what to do before the library can be judged, if its version is not installed. It is "" if nothing is to be
// done, or if the catalogue does not say how the library is installed.
func (l *Library) Missing(folder string) string {
	e, ok := ecosystems[l.By]
	if !ok {
		return ""
	}
	install := e.install
	if strings.Contains(install, "%s") {
		install = fmt.Sprintf(install, l.Package)
	}
	switch version, err := e.version(folder, l.Package); {
	case err != nil:
		return fmt.Sprintf("not installed: run %q in %s", install, folder)
	case version != l.Version:
		return fmt.Sprintf("version %s is installed: run %q in %s for that of the catalogue, if it has it", version, install, folder)
	}
	return ""
}

// installed bounds the file that contains the installed version.
var installed = infile.Input{Noun: "package of npm", Most: 1 << 20}

// npmVersion reads the version that npm has installed in the folder node.
func npmVersion(folder, name string) (string, error) {
	data, err := installed.Read(filepath.Join(folder, "node", "node_modules", filepath.FromSlash(name), "package.json"))
	if err != nil {
		return "", err
	}
	var is struct{ Version string }
	err = json.Unmarshal(data, &is)
	return strings.TrimPrefix(is.Version, "v"), err
}

// goVersion reads the version with which the program go/locks was built.
func goVersion(folder, name string) (string, error) {
	info, err := buildinfo.ReadFile(filepath.Join(folder, "go", "locks"))
	if err != nil {
		return "", err
	}
	for _, m := range info.Deps {
		if m.Path == name {
			return strings.TrimPrefix(m.Version, "v"), nil
		}
	}
	return "", fmt.Errorf("go/locks was built without %s", name)
}

// debianRevision matches what Debian adds to a version.
var debianRevision = regexp.MustCompile(`^\d+:|[+~][^-]*|-[^-]*$`)

// debianVersion is the version of an installed Debian package, without what Debian adds.
func debianVersion(_, name string) (string, error) {
	out, err := exec.Command("dpkg-query", "--show", "--showformat", "${db:Status-Status} ${Version}", name).Output()
	status, version, _ := strings.Cut(string(out), " ")
	if err == nil && status != "installed" {
		err = fmt.Errorf("%s is %s", name, status)
	}
	return debianRevision.ReplaceAllString(version, ""), err
}
