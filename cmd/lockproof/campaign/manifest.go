package campaign

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/histories/infile"
	"github.com/lockproof/lockproof/histories/secret"
)

// Manifest contains everything on which the runner and the workers of a campaign must agree.
type Manifest struct {
	Plan   *Plan  `json:"plan"`             // the plan, without passwords
	Tool   string `json:"tool"`             // lockproof's version
	Build  string `json:"build"`            // identifies lockproof's source
	Target string `json:"target,omitempty"` // a hash of the command and its files; "" for a lock of this module
}

// NewManifest returns the manifest of a plan, with this build of lockproof and this machine's files.
func NewManifest(p *Plan) (*Manifest, error) {
	build, err := build()
	if err != nil {
		return nil, fmt.Errorf("campaign %s: which build of lockproof this is can't be told: %w", p.Name, err)
	}
	target, err := p.Target.hash()
	if err != nil {
		return nil, fmt.Errorf("campaign %s: %w", p.Name, err)
	}
	public, err := p.public()
	if err != nil {
		return nil, fmt.Errorf("campaign %s: %w", p.Name, err)
	}
	return &Manifest{Plan: public, Tool: engine.Version, Build: build, Target: target}, nil
}

// DecodeManifest decodes a manifest from a queue. Any user of the queue may have written it. Its plan may be invalid:
// see [Plan.Check].
func DecodeManifest(data []byte) (*Manifest, error) {
	m := new(Manifest)
	if err := json.Unmarshal(data, m); err != nil {
		return nil, err
	}
	if m.Plan == nil {
		return nil, errors.New("it has no plan")
	}
	return m, nil
}

// build identifies the program's source by a commit. If there were uncommitted changes, it is a hash of the program.
var build = sync.OnceValues(func() (string, error) {
	if info, ok := debug.ReadBuildInfo(); ok {
		commit, clean := "", false
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				commit = s.Value
			case "vcs.modified":
				clean = s.Value == "false"
			}
		}
		if commit != "" && clean {
			return "commit " + commit, nil
		}
	}
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	sum, err := hashFile(path)
	return "program " + sum, err
})

// targetInput limits the size of a file of the target to 4 GiB.
var targetInput = infile.Input{Noun: "target's file", Most: 4 << 30}

// hashFile returns a hash of a file's content.
func hashFile(path string) (string, error) {
	f, err := targetInput.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// Target is the lock to judge.
type Target struct {
	// Name is the name of a lock of this module; "" means the reference semaphore.
	Name string `json:"name,omitzero"`
	// Exec is the command of an external lock, instead of Name. Lock is its type; "" means a semaphore.
	Exec string `json:"exec,omitzero"`
	Lock string `json:"lock,omitzero"`
	// Options are options that the command's clients receive.
	Options map[string]string `json:"options,omitempty"`
	// Files are files that belong to the target, in addition to those that the command names. If their content differs,
	// the target counts as another one.
	Files []string `json:"files,omitempty"`
	// Patience is how long a client may send nothing before the other clients continue without it.
	Patience Duration `json:"patience,omitzero"`
	// Contract lists the promises that the external lock must keep, in the form of the flag --contract.
	Contract string `json:"contract,omitzero"`
}

// hash returns a hash of the target's command, of the program that it starts, and of its files.
func (t *Target) hash() (string, error) {
	if t.Exec == "" {
		return "", nil
	}
	h := sha256.New()
	fmt.Fprintf(h, "%q %q\n", secret.HideCommand(t.Exec), t.Lock)
	var files []string
	for i, word := range strings.Fields(t.Exec) {
		word = strings.Trim(word, `'"`)
		if path, err := exec.LookPath(word); err == nil && i == 0 {
			word = path
		}
		if info, err := os.Stat(word); err == nil && info.Mode().IsRegular() {
			files = append(files, word)
		}
	}
	for _, path := range slices.Concat(files, t.Files) {
		sum, err := hashFile(path)
		if err != nil {
			return "", fmt.Errorf("the target's file: %w", err)
		}
		fmt.Fprintf(h, "%s\n", sum)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// Differs says how another manifest differs from m; "" if both belong to the same campaign.
func (m *Manifest) Differs(other *Manifest) string {
	mine, errMine := json.Marshal(m.Plan, json.Deterministic(true))
	theirs, errTheirs := json.Marshal(other.Plan, json.Deterministic(true))
	switch {
	case m.Tool != other.Tool:
		return fmt.Sprintf("lockproof %s has begun it, and this is %s", other.Tool, m.Tool)
	case m.Build != other.Build:
		return "another build of lockproof has begun it"
	case errMine != nil || errTheirs != nil || string(mine) != string(theirs):
		return "it has another plan"
	case m.Target != other.Target:
		return "its target's command or files are others"
	}
	return ""
}
