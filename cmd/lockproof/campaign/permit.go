package campaign

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"

	"github.com/lockproof/lockproof/histories/secret"
)

// ExecHash identifies a command in a permission: it is the SHA-256, in hexadecimal, of its text without passwords.
func ExecHash(command string) string {
	sum := sha256.Sum256([]byte(secret.HideCommand(command)))
	return hex.EncodeToString(sum[:])
}

// Permit decides whether a worker may carry out a plan from a queue, which any user of the queue may have written. A plan
// with a command requires a worker that was started with the campaign's name and the allowed command, or its [ExecHash]. A
// worker with the command runs its own command, with its own password. The error names the next step.
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

// public is the plan in the form for a queue: its command has no passwords. The error is for a password that workers would
// have to read from the queue.
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
