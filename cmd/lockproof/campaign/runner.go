package campaign

import (
	"context"
	"net/url"
	"strings"
)

// Runner runs campaigns: it gives out shards and takes in their results.
type Runner interface {
	// Run runs a campaign, or goes on with it where it was left, until it is over or ctx is. The error is for a campaign
	// that could not be run; what was stored then is there for the next time.
	Run(ctx context.Context, c RunConfig) (*Outcome, error)
	// Work carries out shards of somebody's campaign until it is over, or ctx is. What it had begun then is given back.
	Work(ctx context.Context, c WorkConfig) error
	// Watch finds a campaign to look at: the only one on the server, where the name is "".
	Watch(ctx context.Context, server Server, name string) (Watcher, error)
	// Delete deletes what a campaign has on a server. What is not lockproof's is left alone.
	Delete(ctx context.Context, server Server, name string) error
}

// Watcher looks at a campaign from outside. That changes nothing, takes no part, and may be done by any build of
// lockproof.
type Watcher interface {
	// Look is the status of the campaign.
	Look(ctx context.Context) (*Status, error)
	// Page is the page that whoever runs the campaign has left of it last, if that is another one than the time before;
	// nil if it is not, or there is none.
	Page(ctx context.Context) ([]byte, error)
	// Close ends the looking.
	Close()
}

// RunConfig says which campaign to run.
type RunConfig struct {
	Plan   *Plan
	Server Server
	// Workers is how many shards are carried out at once in this process; 0 is none, where others work.
	Workers int
	// AllowExec is the command of the plan, or its [ExecHash], where it may be run here though nobody works here: to see
	// again what workers say, and to make it smaller.
	AllowExec string
	Options
	// Watch is called now and then with the progress. It may be nil.
	Watch func(*Status)
	// Page makes a page of what it has come to: now and then, with how far it is, and at the end, with nil. The page is
	// left where a [Watcher] finds it. It may be nil.
	Page func(*Outcome, *Status) []byte
}

// WorkConfig says whose shards to carry out.
type WorkConfig struct {
	Server Server
	// Name is the campaign's; "" is the only one on the server, which then must have no command.
	Name string
	// AllowExec is the command that the campaign may run here, or its [ExecHash]; "" is none.
	AllowExec string
	// Workers is how many shards are carried out at once; at least 1.
	Workers int
	Options
	// Done is called after each shard with the number of those done. It may be nil.
	Done func(shards int)
}

// Server says where a campaign's queue is: at a URL, or in this process with its files in a directory.
type Server struct {
	// URL is that of a NATS server or cluster with JetStream, with commas where there are several.
	URL string
	// Dir is where a server in this process has its files, where there is no URL.
	Dir string
	// Credentials as NATS has them: a user's credentials, or an NKey's seed.
	Creds, NKey string
	// TLS as NATS has it: a client's certificate and key, and who has signed the server's.
	Cert, Key, CA string
}

// String is the server as errors have it, without its password.
func (s *Server) String() string {
	if s.URL == "" {
		return s.Dir
	}
	var out []string
	for _, part := range strings.Split(s.URL, ",") {
		if u, err := url.Parse(strings.TrimSpace(part)); err == nil && u.User != nil {
			u.User = url.User("…")
			part = u.Redacted()
		}
		out = append(out, part)
	}
	return strings.Join(out, ",")
}
