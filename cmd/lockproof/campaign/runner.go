package campaign

import (
	"cmp"
	"context"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/lockproof/lockproof/histories/outfile"
)

// Runner runs campaigns: it gives out shards and takes in their results.
type Runner interface {
	// Run runs or resumes a campaign until it is over or ctx ends. The error is a campaign that could not be run;
	// stored results remain for the next time.
	Run(ctx context.Context, c RunConfig) (*Outcome, error)
	// Work carries out shards of a campaign until the campaign or ctx ends. It gives unfinished shards back.
	Work(ctx context.Context, c WorkConfig) error
	// Watch finds a campaign to look at: the only one on the server, where the name is "".
	Watch(ctx context.Context, server Server, name string) (Watcher, error)
	// Delete deletes a campaign's data on a server. Data that is not lockproof's is left alone.
	Delete(ctx context.Context, server Server, name string) error
}

// Watcher observes a campaign from outside. It changes nothing, takes no part, and may be any build of lockproof.
type Watcher interface {
	// Look is the status of the campaign.
	Look(ctx context.Context) (*Status, error)
	// Page returns the campaign's last stored page, if it has changed since the last call; nil if it has not, or if
	// there is none.
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
	// AllowExec is the plan's command, or its [ExecHash], if it may run here although no worker runs here: to
	// reproduce the workers' violations, and to minimise them.
	AllowExec string
	Options
	// Watch is called now and then with the progress. It may be nil.
	Watch func(*Status)
	// Page makes a page of the results: at an interval with the status, and at the end with nil. A [Watcher] can read
	// the page. It may be nil.
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
	// Dir is the folder where a server in this process has its files, where there is no URL.
	Dir string
	// Within is a folder that Dir must be in, by whatever links; "" is anywhere: the user named Dir.
	Within string
	// Credentials as NATS has them: a user's credentials, or an NKey's seed.
	Creds, NKey string
	// TLS as in NATS: a client's certificate and key, and the authority that signed the server's.
	Cert, Key, CA string
}

// Folder is the place of Dir.
func (s *Server) Folder() outfile.Place { return outfile.Place{Path: s.Dir, Folder: s.Within} }

// File is the place of a file in Dir.
func (s *Server) File(name string) outfile.Place {
	return outfile.Place{Path: filepath.Join(s.Dir, name), Folder: cmp.Or(s.Within, s.Dir)}
}

// String is the server for errors, without its password.
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
