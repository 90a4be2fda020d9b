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

// Hooks are commands of a user by which faults befall the nodes of a cluster, by the names cut, heal, kill, terminate, start,
// pause and resume. A shell carries each out, with the addresses of the nodes in LOCKPROOF_NODES, and for a cut those that
// they are to be separated from in LOCKPROOF_TO.
type Hooks map[string]string

// hookNames are the names of hooks, by the step that they carry out.
var hookNames = map[history.F]string{
	history.Cut: "cut", history.Heal: "heal", history.KillNode: "kill", history.TerminateNode: "terminate", history.StartNode: "start",
	history.PauseNode: "pause", history.ResumeNode: "resume",
}

// ParseHooks reads hooks that are written as NAME=COMMAND.
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

// hookList are the names in order.
func hookList() (names []string) {
	for _, name := range hookNames {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Missing is a hook that a fault takes, for one of its steps, and that is not there; "" is none.
func (h Hooks) Missing(f nemesis.Fault) string {
	for _, s := range (nemesis.Plan{Nodes: 2, Faults: []nemesis.Fault{f}, At: 1}).Draw() {
		if name := hookNames[s.F]; h[name] == "" {
			return name
		}
	}
	return ""
}

// Faults are those for which there are hooks.
func (h Hooks) Faults() (all []nemesis.Fault) {
	for _, f := range nemesis.Faults {
		if h.Missing(f) == "" {
			all = append(all, f)
		}
	}
	return all
}

const (
	hookLimit = 2 * time.Minute // for one hook
	hookSaid  = 300             // bytes of what a hook said that an error shows
)

// Hooked is a cluster of a user's, whose faults are hooks. Their effects are undone at the end.
type Hooked struct {
	version   string
	urls      []string
	addresses []string
	hooks     Hooks
	cut       bool
	down      history.Nodes
	paused    history.Nodes
}

// Join takes a user's cluster, whose nodes are at these addresses.
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
			return nil, errors.New("an address is none") // it was asked already
		}
		h.addresses = append(h.addresses, u.Host)
	}
	return h, nil
}

// Nodes is how many nodes there are.
func (h *Hooked) Nodes() int { return len(h.urls) }

// URL is where clients find a node.
func (h *Hooked) URL(number int) string { return h.urls[number-1] }

// String is the cluster as reports have it.
func (h *Hooked) String() string {
	return fmt.Sprintf("%s, a cluster of yours, %d nodes of it", h.version, len(h.urls))
}

// Befall has one step of a sequence befall the cluster, by its hook.
func (h *Hooked) Befall(ctx context.Context, s nemesis.Step) error {
	h.begins(s)
	if err := h.carryOut(ctx, s); err != nil {
		return fmt.Errorf("the hook for %s: %w", s, err)
	}
	h.ends(s)
	return nil
}

// begins notes what will have to be undone, whether its hook succeeds or not.
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

// ends notes what was undone.
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

// named are the addresses of nodes.
func (h *Hooked) named(nodes history.Nodes) string {
	var all []string
	for _, number := range nodes.List() {
		all = append(all, h.addresses[number-1])
	}
	return strings.Join(all, " ")
}

// Mend undoes what hooks have done and others have not undone.
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

// Abandon undoes what hooks have done, and leaves the cluster alone.
func (h *Hooked) Abandon() error { return h.Mend(context.Background()) }

// Ready waits until every node takes clients.
func (h *Hooked) Ready(ctx context.Context) error {
	for i, u := range h.urls {
		if _, err := rabbitmq.AwaitReady(ctx, u, nil); err != nil {
			return fmt.Errorf("%s: %w", h.addresses[i], err)
		}
	}
	return nil
}

// Mirror is an error: mirrored queues take a policy, and nothing of a user's cluster is changed.
func (*Hooked) Mirror(context.Context, string) error {
	return errors.New("mirrored queues take a policy, and no policy is set on a cluster of yours")
}
