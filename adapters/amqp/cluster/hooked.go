package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/lockproof/lockproof/adapters/amqp/rabbitmq"
	"github.com/lockproof/lockproof/adapters/nemesis"
	"github.com/lockproof/lockproof/histories/safetext"
	"github.com/lockproof/lockproof/model/history"
)

// Hooks are a user's shell commands that cause faults in the user's cluster. The names are cut, heal, kill, terminate,
// start, pause and resume. A command finds the addresses of the affected nodes in LOCKPROOF_NODES. For a cut,
// LOCKPROOF_TO has the addresses of the nodes on the other side.
type Hooks map[string]string

// hookNames maps each step of a fault to the name of its hook.
var hookNames = map[history.F]string{
	history.Cut: "cut", history.Heal: "heal", history.KillNode: "kill", history.TerminateNode: "terminate", history.StartNode: "start",
	history.PauseNode: "pause", history.ResumeNode: "resume",
}

// ParseHooks parses hooks in the form NAME=COMMAND.
func ParseHooks(all []string) (Hooks, error) {
	h := make(Hooks)
	for _, text := range all {
		name, command, _ := strings.Cut(text, "=")
		if known := slices.Contains(hookList(), name); !known || strings.TrimSpace(command) == "" {
			return nil, fmt.Errorf("%q: expected NAME=COMMAND, where NAME is one of %s", text, strings.Join(hookList(), ", "))
		}
		if h[name] != "" {
			return nil, fmt.Errorf("%s is given twice", name)
		}
		h[name] = command
	}
	return h, nil
}

// hookList is the names of all hooks, sorted.
func hookList() (names []string) {
	for _, name := range hookNames {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Missing is the name of the first hook that a fault needs and the user has not given; "" if none is missing.
func (h Hooks) Missing(f nemesis.Fault) string {
	for _, s := range (nemesis.Plan{Nodes: 2, Faults: []nemesis.Fault{f}, At: 1}).Draw() {
		if name := hookNames[s.F]; h[name] == "" {
			return name
		}
	}
	return ""
}

// Faults are the faults for which the user has given every hook.
func (h Hooks) Faults() (all []nemesis.Fault) {
	for _, f := range nemesis.Faults {
		if h.Missing(f) == "" {
			all = append(all, f)
		}
	}
	return all
}

const (
	hookLimit = 2 * time.Minute // maximum time for one hook
	hookSaid  = 300             // bytes of a hook's output that an error shows
)

// Hooked is a user's cluster, in which hooks cause the faults. Mend undoes their effects at the end.
type Hooked struct {
	version   string
	urls      []string
	addresses []string
	hooks     Hooks
	cut       bool
	down      history.Nodes
	paused    history.Nodes
}

// Join connects to a user's cluster, whose nodes are at urls.
func Join(ctx context.Context, urls []string, hooks Hooks) (*Hooked, error) {
	told, err := rabbitmq.Ask(ctx, urls...)
	if err != nil {
		return nil, err
	}
	h := &Hooked{urls: urls, hooks: hooks, version: told[0].Product + " " + told[0].Version}
	if err := rabbitmq.Together(ctx, urls); err != nil {
		return nil, err
	}
	for _, address := range urls {
		u, err := url.Parse(address)
		if err != nil {
			return nil, errors.New("an address is none") // cannot happen: Ask has connected to the address
		}
		h.addresses = append(h.addresses, u.Host)
	}
	return h, nil
}

// Nodes is the number of nodes.
func (h *Hooked) Nodes() int { return len(h.urls) }

// URL is the AMQP address of a node; number counts from 1.
func (h *Hooked) URL(number int) string { return h.urls[number-1] }

// String describes the cluster in reports.
func (h *Hooked) String() string {
	return fmt.Sprintf("%s, a cluster of yours, %d nodes of it", h.version, len(h.urls))
}

// Befall runs the hook for one step of a fault, for example cutting n1 off from n2.
func (h *Hooked) Befall(ctx context.Context, s nemesis.Step) error {
	h.begins(s)
	if err := h.carryOut(ctx, s); err != nil {
		return fmt.Errorf("the hook for %s: %w", s, err)
	}
	h.ends(s)
	return nil
}

// begins records a fault that must be undone later. It does so before the hook runs, as a hook that fails may have had
// an effect.
func (h *Hooked) begins(s nemesis.Step) {
	switch s.F {
	case history.Cut:
		h.cut = true
	case history.KillNode, history.TerminateNode:
		h.down |= s.Nodes
	case history.PauseNode:
		h.paused |= s.Nodes
	}
}

// ends records that a heal, start or resume step has undone a fault.
func (h *Hooked) ends(s nemesis.Step) {
	switch s.F {
	case history.Heal:
		h.cut = false
	case history.StartNode:
		h.down &^= s.Nodes
	case history.ResumeNode:
		h.paused &^= s.Nodes
	}
}

// carryOut runs the hook of a step.
func (h *Hooked) carryOut(ctx context.Context, s nemesis.Step) error {
	ctx, cancel := context.WithTimeoutCause(ctx, hookLimit, fmt.Errorf("it has not ended after %s", hookLimit))
	defer cancel()
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", h.hooks[hookNames[s.F]])
	cmd.WaitDelay = time.Second
	cmd.Env = append(os.Environ(), "LOCKPROOF_NODES="+h.named(s.Nodes), "LOCKPROOF_TO="+h.named(s.To))
	said, err := cmd.CombinedOutput()
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if said = bytes.TrimSpace(said); err != nil && len(said) > 0 {
		return fmt.Errorf("%w; it said: %s", err, safetext.OneLine(string(said[max(0, len(said)-hookSaid):])))
	}
	return err
}

// named is the addresses of nodes, separated by spaces.
func (h *Hooked) named(nodes history.Nodes) string {
	var all []string
	for _, number := range nodes.List() {
		all = append(all, h.addresses[number-1])
	}
	return strings.Join(all, " ")
}

// Mend runs the hooks that undo the faults which are still in effect.
func (h *Hooked) Mend(ctx context.Context) error {
	var errs []error
	if h.cut {
		errs = append(errs, h.Befall(ctx, nemesis.Step{F: history.Heal}))
	}
	if h.paused != 0 {
		errs = append(errs, h.Befall(ctx, nemesis.Step{F: history.ResumeNode, Nodes: h.paused}))
	}
	if h.down != 0 {
		errs = append(errs, h.Befall(ctx, nemesis.Step{F: history.StartNode, Nodes: h.down}))
	}
	return errors.Join(errs...)
}

// Abandon runs the same hooks as Mend, even if the run was cancelled.
func (h *Hooked) Abandon() error { return h.Mend(context.Background()) }

// Ready waits until every node accepts clients.
func (h *Hooked) Ready(ctx context.Context) error {
	for i, u := range h.urls {
		if _, err := rabbitmq.AwaitReady(ctx, u, nil); err != nil {
			return fmt.Errorf("%s: %w", h.addresses[i], err)
		}
	}
	return nil
}

// Mirror returns an error: mirrored queues need a policy, and a user's cluster is not changed.
func (*Hooked) Mirror(context.Context, string) error {
	return errors.New("mirrored queues take a policy, and no policy is set on a cluster of yours")
}
