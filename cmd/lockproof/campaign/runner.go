package campaign

import (
	"cmp"
	"context"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/lockproof/lockproof/histories/outfile"
)

// Runner runs campaigns: it distributes shards and reads their results.
type Runner interface {
	// Run runs or resumes a campaign until it is over or ctx ends. The error is for a campaign that could not be run; stored
	// results remain for the next run.
	Run(ctx context.Context, c RunConfig) (*Outcome, error)
	// Work carries out shards of a campaign until the campaign or ctx ends. It returns unfinished shards to the queue.
	Work(ctx context.Context, c WorkConfig) error
	// Watch finds a campaign to observe; if name is "", the only one on the server.
	Watch(ctx context.Context, server Server, name string) (Watcher, error)
	// Delete deletes a campaign's data on a server. It leaves data that is not lockproof's.
	Delete(ctx context.Context, server Server, name string) error
}

// Watcher observes a campaign from outside. It changes nothing, takes no part, and may be any build of lockproof.
type Watcher interface {
	// Look is the status of the campaign.
	Look(ctx context.Context) (*Status, error)
	// Page returns the campaign's last stored page, if it has changed since the last call; nil if it has not, or if
	// there is none.
	Page(ctx context.Context) ([]byte, error)
	// Close ends the observation.
	Close()
}

// RunConfig says which campaign to run.
type RunConfig struct {
	Plan   *Plan
	Server Server
	// Workers is the number of shards carried out in parallel in this process. It may be 0 if there are workers elsewhere.
	Workers int
	// AllowExec is the plan's command, or its [ExecHash], if the command may run here although this process has no workers:
	// to reproduce the workers' violations, and to minimise them.
	AllowExec string
	Options
	// Watch is called from time to time with the progress. It may be nil.
	Watch func(*Status)
	// Page renders a page of the results: periodically with the status, and at the end with a nil status. A [Watcher] can
	// read the page. Page may be nil.
	Page func(*Outcome, *Status) []byte
}

// WorkConfig says which campaign's shards to carry out.
type WorkConfig struct {
	Server Server
	// Name is the campaign's name; "" is the only campaign on the server, which then must have no command.
	Name string
	// AllowExec is the command that the campaign may run here, or its [ExecHash]; "" allows none.
	AllowExec string
	// Workers is the number of shards carried out in parallel; at least 1.
	Workers int
	Options
	// Done is called after each shard with the number of completed shards. It may be nil.
	Done func(shards int)
}

// Server says where a campaign's queue is: on a server at a URL, or in this process with its files in a directory.
type Server struct {
	// URL is the URL of a NATS server or cluster with JetStream; several are separated by commas.
	URL string
	// Dir is the folder with the files of the server in this process, if there is no URL.
	Dir string
	// Within is a folder that must contain Dir, after all links are resolved; "" is no restriction, as the user named Dir.
	Within string
	// Creds and NKey are files with NATS credentials: a user's credentials, or an NKey's seed.
	Creds, NKey string
	// Cert, Key and CA are the files for TLS, as in NATS: a client's certificate and key, and the authority that signed the
	// server's certificate.
	Cert, Key, CA string
}

// Folder is the place of Dir.
func (s *Server) Folder() outfile.Place { return outfile.Place{Path: s.Dir, Folder: s.Within} }

// File is the place of a file in Dir.
func (s *Server) File(name string) outfile.Place {
	return outfile.Place{Path: filepath.Join(s.Dir, name), Folder: cmp.Or(s.Within, s.Dir)}
}

// String is the server's name in errors, without its password.
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
