package redis

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockproof/lockproof/histories/leftover"
	model "github.com/lockproof/lockproof/model/redis"
)

// Space is a private set of keys on a server. Their names begin with a random mark. A millisecond of the model is
// much longer on the server, so that no key expires by itself while commands are under way.
type Space struct {
	server *Server
	prefix string
	scale  time.Duration // real length of a model's millisecond
	keys   *keys
}

// held is the real length of a model's millisecond if no key may expire by itself. Then only [Space.Advance] lets
// time pass: the longest lease of a model, some hundred milliseconds, takes hours.
const held = 100 * time.Second

// Space returns a new set of keys on the server.
func (s *Server) Space() *Space {
	mark, secret := leftover.Mark()
	prefix := "{lockproof:" + mark + ":"
	return &Space{s, prefix, held, &keys{server: s, prefix: prefix, secret: secret, known: make(map[string]bool)}}
}

// Lasting returns the same set of keys with another real length of the model's millisecond. With time.Millisecond,
// leases end by themselves.
func (p *Space) Lasting(millisecond time.Duration) *Space {
	return &Space{p.server, p.prefix, millisecond, p.keys}
}

// name returns the name of a lock's key on the server. The mark is inside the braces of the name.
func (p *Space) name(k model.Key, lock string) string {
	return p.prefix + strings.TrimPrefix(k.Name(lock), "{")
}

// prepared are the scripts. go-redis sends a script's hash and, if the server does not know it, the script's text.
var prepared = func() map[model.Method]*redis.Script {
	all := make(map[model.Method]*redis.Script)
	for m := model.Steal; m <= model.Look; m++ {
		all[m] = redis.NewScript(m.Script())
	}
	return all
}()

// Do sends a command about a lock, and returns the reply.
func (p *Space) Do(ctx context.Context, c model.Command, lock string) (model.Reply, error) {
	var r model.Reply
	err := p.keys.own(ctx, p.written(c, lock)...)
	if err == nil {
		r, err = p.do(ctx, c, p.name(c.Key, lock))
	}
	if err != nil {
		return r, fmt.Errorf("%s, to the Redis at %s: %w; %s", c.Words(lock), p.server.client.Options().Addr, err, next)
	}
	return r, nil
}

func (p *Space) do(ctx context.Context, c model.Command, key string) (model.Reply, error) {
	r, lease := p.server.client, time.Duration(c.Lease)*p.scale
	switch c.Method {
	case model.Get:
		s, err := r.Get(ctx, key).Result()
		if errors.Is(err, redis.Nil) {
			return model.Reply{Class: model.Nil}, nil
		}
		return valued(model.Valued, s, err)
	case model.SetNX:
		return yes(r.SetNX(ctx, key, text(c), lease).Result())
	case model.Set:
		return yes(true, r.Set(ctx, key, text(c), lease).Err())
	case model.PExpire:
		return yes(r.PExpire(ctx, key, lease).Result())
	case model.PTTL:
		left, err := r.PTTL(ctx, key).Result()
		return age(left), err
	case model.Del:
		n, err := r.Del(ctx, key).Result()
		return yes(n > 0, err)
	case model.Exists:
		n, err := r.Exists(ctx, key).Result()
		return yes(n > 0, err)
	}
	return p.script(ctx, c, key, lease)
}

func (p *Space) script(ctx context.Context, c model.Command, key string, lease time.Duration) (model.Reply, error) {
	args := []any{c.ID.String(), c.Priority, lease.Milliseconds(), flag(c.Equal), flag(c.Keep)}
	for _, id := range c.Also {
		args = append(args, id.String())
	}
	got, err := prepared[c.Method].Run(ctx, p.server.client, []string{key}, args...).Slice()
	if err != nil {
		return model.Reply{}, err
	}
	done, _ := got[0].(int64)
	value, _ := got[1].(string)
	if done == 1 {
		return valued(model.OK, value, nil)
	}
	return valued(model.No, value, nil)
}

// text returns the text of the entry that a command writes.
func text(c model.Command) string { return model.Value{{ID: c.ID, Priority: c.Priority}}.String() }

func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}

func yes(ok bool, err error) (model.Reply, error) {
	if !ok {
		return model.Reply{Class: model.No}, err
	}
	return model.Reply{Class: model.OK}, err
}

func valued(class model.Class, s string, err error) (model.Reply, error) {
	if err != nil {
		return model.Reply{}, err
	}
	v, err := model.ParseValue(s)
	return model.Reply{Class: class, Value: v}, err
}

// noKey is the reply of PTTL if the key does not exist.
const noKey = -2

// age converts the result of PTTL, in left, to a reply of the model.
func age(left time.Duration) model.Reply {
	switch left {
	case noKey:
		return model.Reply{Class: model.Nil}
	case -1:
		return model.Reply{Class: model.Ageless}
	}
	return model.Reply{Class: model.Timed}
}

// Advance lets ms milliseconds of the model pass for all keys: it shortens the expiry time of each key, and deletes
// keys that have expired. It does not test the server's own expiry.
func (p *Space) Advance(ctx context.Context, ms int64) error {
	left, err := p.Left(ctx)
	for name, virtual := range left {
		switch {
		case virtual == 0: // the key does not expire
		case virtual <= ms:
			err = errors.Join(err, p.server.client.Del(ctx, p.prefix+name).Err())
		default:
			err = errors.Join(err, p.server.client.PExpire(ctx, p.prefix+name, time.Duration(virtual-ms)*p.scale).Err())
		}
	}
	if err != nil {
		return fmt.Errorf("having %d ms of virtual time pass on the Redis at %s: %w; %s", ms, p.server.client.Options().Addr, err, next)
	}
	return nil
}

// Left returns, for each key, the number of the model's milliseconds until it expires; 0 means never. The names of
// the keys are without the mark.
func (p *Space) Left(ctx context.Context) (map[string]int64, error) {
	left := make(map[string]int64)
	for _, name := range p.keys.names() {
		ttl, err := p.server.client.PTTL(ctx, name).Result()
		if err != nil {
			return nil, err
		}
		if ttl == noKey {
			continue
		}
		// Round up: the little real time since the key was set does not count.
		left[strings.TrimPrefix(name, p.prefix)] = max(0, int64((ttl+p.scale-1)/p.scale))
	}
	return left, nil
}
