package campaign

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"

	"github.com/lockproof/lockproof/histories/secret"
)

// ExecHash identifies a command in a permission. It is the SHA-256, in hexadecimal, of the command's text with its
// passwords hidden.
func ExecHash(command string) string {
	sum := sha256.Sum256([]byte(secret.HideCommand(command)))
	return hex.EncodeToString(sum[:])
}

// Permit decides whether a worker may carry out a plan from a queue. Any user of the queue may have written the plan.
// If the plan has a command, the worker must have been started with the campaign's name, and with the allowed command
// or its [ExecHash]. A worker that was given the command runs its own copy, with its own password. The error says what
// to do next.
func (p *Plan) Permit(named bool, allowed string) error {
	if p.Target.Exec == "" {
		return nil
	}
	shown, hash := secret.HideCommand(p.Target.Exec), ExecHash(p.Target.Exec)
	switch {
	case !named:
		return fmt.Errorf("campaign %s runs a command, %q: a worker runs one only of a campaign that is named to it: lockproof campaign work %s --allow-exec %s",
			p.Name, shown, p.Name, hash)
	case allowed == "":
		return fmt.Errorf("campaign %s runs a command, %q, and none is allowed here: if you trust it, add --allow-exec %s", p.Name, shown, hash)
	case allowed == hash && secret.Masked(shown):
		return fmt.Errorf("campaign %s runs a command whose password is not in the queue, %q: give --allow-exec the command itself", p.Name, shown)
	case allowed == hash:
		return nil
	case secret.HideCommand(allowed) != shown:
		return fmt.Errorf("campaign %s runs another command than --allow-exec has, %q: if you trust it, give --allow-exec %s", p.Name, shown, hash)
	}
	p.Target.Exec = allowed
	return nil
}

// public returns the plan without the passwords of its command, for the queue. It returns an error if workers would
// have to read a password from the queue.
func (p *Plan) public() (*Plan, error) {
	for _, name := range slices.Sorted(maps.Keys(p.Target.Options)) {
		if said := name + "=" + p.Target.Options[name]; secret.Hide(said) != said {
			return nil, fmt.Errorf("target: options: %s has a password, which the queue would keep: have the command read it from its environment", name)
		}
	}
	out := *p
	out.Target.Exec = secret.HideCommand(p.Target.Exec)
	return &out, nil
}
