package secret

import (
	"slices"
	"strings"
	"sync"
)

// shortest is the smallest length, in bytes, of a secret that is hidden wherever it occurs. Shorter texts may occur by
// chance.
const shortest = 4

// Known collects the secrets that a process was given, to hide them in its output. The zero value has none. It is safe
// for concurrent use.
type Known struct {
	mu     sync.RWMutex
	values []string // the secrets, longer ones first
}

// AddCommand adds the secrets that are written out in a shell command.
func (k *Known) AddCommand(command string) {
	for _, p := range literal(command) {
		k.add(command[p.from:p.to])
	}
}

// AddOption adds the secrets in an option's value. This is the whole value if the option's name indicates a secret.
func (k *Known) AddOption(name, value string) {
	if HideOption(name, value) == mask {
		k.add(value)
		return
	}
	for _, p := range inCommand(value) {
		k.add(value[p.from:p.to])
	}
}

// AddAddress adds the password in a server's address. The usual password "guest" is not added, since it is no secret.
func (k *Known) AddAddress(address string) {
	for _, p := range addresses(address) {
		if password := address[p.from:p.to]; password != "guest" {
			k.add(password)
		}
	}
}

func (k *Known) add(value string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(value) < shortest || slices.Contains(k.values, value) {
		return
	}
	k.values = append(k.values, value)
	slices.SortStableFunc(k.values, func(a, b string) int { return len(b) - len(a) })
}

// Hide replaces the known secrets in a text, and also the passwords in addresses and assignments.
func (k *Known) Hide(text string) string {
	k.mu.RLock()
	defer k.mu.RUnlock()
	for _, value := range k.values {
		text = strings.ReplaceAll(text, value, mask)
	}
	return Hide(text)
}
