package redis

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lockproof/lockproof/histories/leftover"
	model "github.com/lockproof/lockproof/model/redis"
)

// runsKey is the name of a set that lists the keys which runs are about to create. From it, the next run learns what
// a killed run has left. Each entry begins with a secret of its run; otherwise any client that can write to the set
// could make a run delete any key. Redis deletes the set with its last member.
const runsKey = "lockproof:runs"

// A run is alive as long as one key exists: its name is the run's prefix followed by livingKey. This key expires after
// livingTime unless the run renews it.
const (
	livingKey  = "run}"
	livingTime = time.Minute
	renewal    = 10 * time.Second
)

// marked matches the mark of a run at the beginning of its keys.
var marked = regexp.MustCompile(`^\{lockproof:([a-z2-7]{10}):`)

// keys are the keys of a run on a server.
type keys struct {
	server *Server
	prefix string
	secret string // proves that the run created the mark in prefix

	mu      sync.Mutex
	known   map[string]bool
	renewed time.Time // time of the last renewal; zero before the first one
}

// written returns the keys that a command may write: the lock's key and, for some methods, a key with the lease of the
// client's claim. It leaves the latter out unless p.scale is held, since that key expires soon.
func (p *Space) written(c model.Command, lock string) []string {
	name := p.name(c.Key, lock)
	if c.ID != 0 && claims[c.Method] && p.scale == held {
		return []string{name, name + "." + c.ID.String()}
	}
	return []string{name}
}

// claims are the methods whose scripts write a key with the lease of the client's claim to a lock.
var claims = func() map[model.Method]bool {
	all := make(map[model.Method]bool)
	for m := model.Steal; m <= model.Look; m++ {
		all[m] = strings.Contains(m.Script(), "KEYS[1] .. '.' .. ARGV[1]")
	}
	return all
}()

// own records that this run is about to write keys. It returns an error if one of the keys exists already, since that
// belongs to another program.
func (k *keys) own(ctx context.Context, names ...string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.live(ctx); err != nil {
		return err
	}
	for _, name := range names {
		if k.known[name] {
			continue
		}
		n, err := k.server.client.Exists(ctx, name).Result()
		if err != nil {
			return err
		}
		if n > 0 {
			return fmt.Errorf("key %q is there already, and is somebody else's: it is left as it is; run it again", name)
		}
		if k.server.accounts {
			if err := k.server.client.SAdd(ctx, runsKey, k.secret+" "+name).Err(); err != nil {
				return err
			}
		}
		k.known[name] = true
	}
	return nil
}

// live renews the key that shows other runs that this run is alive. mu is held.
func (k *keys) live(ctx context.Context) error {
	if time.Since(k.renewed) < renewal {
		return nil
	}
	client, name := k.server.client, k.prefix+livingKey
	if !k.renewed.IsZero() {
		there, err := client.PExpire(ctx, name, livingTime).Result()
		if err == nil && !there {
			err = errors.New("the server took this run for dead, so that another may delete its keys; run it again")
		}
		k.renewed = time.Now()
		return err
	}
	k.server.tidyOnce.Do(func() {
		k.server.accounts = true
		k.server.accounts = k.server.tidy(ctx) == nil
	})
	made, err := client.SetNX(ctx, name, "lockproof", livingTime).Result()
	if err == nil && !made {
		err = fmt.Errorf("key %q is there already, and is somebody else's: it is left as it is; run it again", name)
	}
	if err == nil && k.server.accounts {
		err = client.SAdd(ctx, runsKey, k.secret+" "+name).Err()
	}
	if err == nil {
		k.known[name], k.renewed = true, time.Now()
	}
	return err
}

// tidy deletes the keys of dead runs. It returns an error if another program uses the name of the set that lists
// keys.
func (s *Server) tidy(ctx context.Context) error {
	members, err := s.client.SMembers(ctx, runsKey).Result()
	if err != nil {
		return err
	}
	type run struct{ prefix, secret string }
	byRun := make(map[run][]string)
	for _, member := range members {
		secret, name, _ := strings.Cut(member, " ")
		mark := marked.FindStringSubmatch(name)
		if mark == nil || !leftover.Proved(mark[1], secret) {
			return fmt.Errorf("the set %s has the member %q, which no run of lockproof's has written", runsKey, member)
		}
		of := run{mark[0], secret}
		byRun[of] = append(byRun[of], name)
	}
	for of, names := range byRun {
		alive, err := s.client.Exists(ctx, of.prefix+livingKey).Result()
		if err == nil && alive == 0 {
			err = s.remove(ctx, of.secret, names)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// remove deletes keys, and their entries in the set that lists keys of runs.
func (s *Server) remove(ctx context.Context, secret string, names []string) error {
	members := make([]any, len(names))
	for i, name := range names {
		members[i] = secret + " " + name
	}
	if err := s.client.Del(ctx, names...).Err(); err != nil {
		return err
	}
	if !s.accounts {
		return nil
	}
	return s.client.SRem(ctx, runsKey, members...).Err()
}

// Sweep deletes the keys that this space has written.
func (p *Space) Sweep(ctx context.Context) error {
	p.keys.mu.Lock()
	defer p.keys.mu.Unlock()
	if len(p.keys.known) == 0 {
		return nil
	}
	s := p.keys.server
	if err := s.remove(ctx, p.keys.secret, slices.Collect(maps.Keys(p.keys.known))); err != nil {
		return fmt.Errorf("deleting the keys of this run on the Redis at %s: %w; they begin with %s", s.client.Options().Addr, err, p.prefix)
	}
	clear(p.keys.known)
	p.keys.renewed = time.Time{}
	return nil
}

// names returns the keys of the run that may still exist.
func (k *keys) names() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	var all []string
	for name := range k.known {
		if name != k.prefix+livingKey {
			all = append(all, name)
		}
	}
	return all
}
