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

// ecosystem is a package manager from which libraries are installed.
type ecosystem struct {
	install string // the install command, to run in the catalogue's folder; %s is the package
	// version returns the installed version of a package. folder is the catalogue's folder. The error says why the
	// version is unknown.
	version func(folder, name string) (string, error)
}

// ecosystems are the supported package managers, by their names in catalogues.
var ecosystems = map[string]ecosystem{
	"npm":    {"npm ci --prefix node", npmVersion},
	"go":     {"go build -C go -o locks .", goVersion},
	"debian": {"apt-get install %s", debianVersion},
}

// Missing says how to install the library if the catalogue's version of it is not installed. It is "" if that version
// is installed, or if the catalogue does not say how to install it.
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

// installed limits the size of the package.json file that contains the installed version.
var installed = infile.Input{Noun: "package of npm", Most: 1 << 20}

// npmVersion reads the version of a package that npm has installed below the folder node.
func npmVersion(folder, name string) (string, error) {
	data, err := installed.Read(filepath.Join(folder, "node", "node_modules", filepath.FromSlash(name), "package.json"))
	if err != nil {
		return "", err
	}
	var is struct{ Version string }
	err = json.Unmarshal(data, &is)
	return strings.TrimPrefix(is.Version, "v"), err
}

// goVersion reads the version of a module with which the program go/locks was built.
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

// debianRevision matches the parts that Debian adds to a version, for example "+dfsg-0+deb12u1".
var debianRevision = regexp.MustCompile(`^\d+:|[+~][^-]*|-[^-]*$`)

// debianVersion returns the version of an installed Debian package, without the parts that Debian adds.
func debianVersion(_, name string) (string, error) {
	out, err := exec.Command("dpkg-query", "--show", "--showformat", "${db:Status-Status} ${Version}", name).Output()
	status, version, _ := strings.Cut(string(out), " ")
	if err == nil && status != "installed" {
		err = fmt.Errorf("%s is %s", name, status)
	}
	return debianRevision.ReplaceAllString(version, ""), err
}
