package plugin

import (
	"crypto/sha1"
	"encoding/hex"
	"maps"
	"slices"
	"strings"
	"sync"
)

// A server remembers scripts from one run to the next. A client that tries a script by its name, and sends its text only if
// the name is unknown, would therefore behave differently in each run. So a server begins a run without scripts, except for
// those that clients have loaded unasked: clients load them only once.

// scripts are the scripts that clients of a server have loaded unasked, by Redis's name for them.
type scripts struct {
	mu  sync.Mutex
	all map[string]string
}

// digest is Redis's name for a script.
func digest(script string) string {
	sum := sha1.Sum([]byte(script))
	return hex.EncodeToString(sum[:])
}

// load records a script that a client loads.
func (s *scripts) load(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = make(map[string]string)
	}
	s.all[digest(text)] = text
}

// texts are the scripts, sorted.
func (s *scripts) texts() (all []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, sum := range slices.Sorted(maps.Keys(s.all)) {
		all = append(all, s.all[sum])
	}
	return all
}

// unknown is the server's error code for an unknown script.
const unknown = "NOSCRIPT"

// scriptOf is the name of the script that a command runs by name; "" for other commands.
func scriptOf(name string, args []string) string {
	if strings.HasPrefix(name, "EVALSHA") && len(args) > 1 {
		return strings.ToLower(args[1])
	}
	return ""
}

// forgetScripts makes the server forget all scripts except those that clients have loaded unasked.
func (i *instance) forgetScripts() error {
	commands := [][]string{{"SCRIPT", "FLUSH", "SYNC"}}
	for _, text := range i.scripts.texts() {
		commands = append(commands, []string{"SCRIPT", "LOAD", text})
	}
	return i.control.Load().DoAll(commands)
}
