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
	install string // what does that, in the catalogue's folder; %s is the package
	// version is which version of a package is installed for a catalogue in a folder. An error says why that is not known.
	version func(folder, name string) (string, error)
}

// ecosystems are those that there are, by their names in catalogues.
var ecosystems = map[string]ecosystem{
	"npm":    {"npm ci --prefix node", npmVersion},
	"go":     {"go build -C go -o locks .", goVersion},
	"debian": {"apt-get install %s", debianVersion},
}

// Missing says what has to be done before the library can be judged, as its version is not installed; "" is nothing. Of a library whose
// catalogue does not say how it is installed, nothing is known.
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

// installed is what says which version of a package is installed.
var installed = infile.Input{Noun: "package of npm", Most: 1 << 20}

// npmVersion reads what npm has installed in the folder node.
func npmVersion(folder, name string) (string, error) {
	data, err := installed.Read(filepath.Join(folder, "node", "node_modules", filepath.FromSlash(name), "package.json"))
	if err != nil {
		return "", err
	}
	var is struct{ Version string }
	err = json.Unmarshal(data, &is)
	return strings.TrimPrefix(is.Version, "v"), err
}

// goVersion reads what the program go/locks was built with.
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

// debianRevision is what Debian adds to a version.
var debianRevision = regexp.MustCompile(`^\d+:|[+~][^-]*|-[^-]*$`)

// debianVersion asks for the version of a package of Debian's, without what Debian adds to it.
func debianVersion(_, name string) (string, error) {
	out, err := exec.Command("dpkg-query", "--show", "--showformat", "${db:Status-Status} ${Version}", name).Output()
	status, version, _ := strings.Cut(string(out), " ")
	if err == nil && status != "installed" {
		err = fmt.Errorf("%s is %s", name, status)
	}
	return debianRevision.ReplaceAllString(version, ""), err
}
