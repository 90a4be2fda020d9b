package plugin

import (
	"crypto/sha1"
	"encoding/hex"
	"maps"
	"slices"
	"strings"
	"sync"
)

// A server remembers scripts from one run to the next. Some clients run a script by its digest, and send its text
// only if the server does not know it. They would behave differently in each run. So a server begins a run without
// scripts, except those that clients have loaded without such a failure, for example at their start, since they load
// them only once.

// scripts holds the scripts that clients have loaded without a failure before, by SHA-1 digest.
type scripts struct {
	mu  sync.Mutex
	all map[string]string
}

// digest returns the SHA-1 digest by which Redis names a script.
func digest(script string) string {
	sum := sha1.Sum([]byte(script))
	return hex.EncodeToString(sum[:])
}

// load records a script that a client has loaded.
func (s *scripts) load(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = make(map[string]string)
	}
	s.all[digest(text)] = text
}

// texts returns the texts of the recorded scripts, in the order of their digests.
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

// scriptOf returns the digest of the script that a command runs by its digest; "" for other commands.
func scriptOf(name string, args []string) string {
	if strings.HasPrefix(name, "EVALSHA") && len(args) > 1 {
		return strings.ToLower(args[1])
	}
	return ""
}

// forgetScripts makes the server forget all scripts except the recorded ones.
func (i *instance) forgetScripts() error {
	commands := [][]string{{"SCRIPT", "FLUSH", "SYNC"}}
	for _, text := range i.scripts.texts() {
		commands = append(commands, []string{"SCRIPT", "LOAD", text})
	}
	return i.control.Load().DoAll(commands)
}
