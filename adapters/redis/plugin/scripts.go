package plugin

import (
	"crypto/sha1"
	"encoding/hex"
	"maps"
	"slices"
	"strings"
	"sync"
)

// A server remembers scripts from one run to the next, and a client that tries one, and gives its text where it is not known, would do
// something else in each run. So a server begins a run without scripts, except for those that clients have loaded of their own accord:
// they load them once in their lives.

// scripts are those that clients of a server have loaded of their own accord, by what Redis calls them.
type scripts struct {
	mu  sync.Mutex
	all map[string]string
}

// digest is what Redis calls a script.
func digest(script string) string {
	sum := sha1.Sum([]byte(script))
	return hex.EncodeToString(sum[:])
}

// load notes a script that a client loads.
func (s *scripts) load(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = make(map[string]string)
	}
	s.all[digest(text)] = text
}

// texts are the scripts, in an order that is always the same.
func (s *scripts) texts() (all []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, sum := range slices.Sorted(maps.Keys(s.all)) {
		all = append(all, s.all[sum])
	}
	return all
}

// unknown is what the server says of a script that it does not have.
const unknown = "NOSCRIPT"

// scriptOf is what a command that runs a script by its name names, and "" of others.
func scriptOf(name string, args []string) string {
	if strings.HasPrefix(name, "EVALSHA") && len(args) > 1 {
		return strings.ToLower(args[1])
	}
	return ""
}

// forgetScripts has the server forget all scripts but those that clients load once.
func (i *instance) forgetScripts() error {
	commands := [][]string{{"SCRIPT", "FLUSH", "SYNC"}}
	for _, text := range i.scripts.texts() {
		commands = append(commands, []string{"SCRIPT", "LOAD", text})
	}
	return i.control.Load().DoAll(commands)
}
