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
	// Run runs or resumes a campaign until it is over or ctx ends. The error is for a campaign that could not be run.
	// Results that are stored by then remain for the next run.
	Run(ctx context.Context, c RunConfig) (*Outcome, error)
	// Work carries out shards of a campaign until the campaign or ctx ends. It returns unfinished shards to the queue.
	Work(ctx context.Context, c WorkConfig) error
	// Watch finds a campaign to observe. If name is "", it must be the only campaign on the server.
	Watch(ctx context.Context, server Server, name string) (Watcher, error)
	// Delete deletes a campaign's data on a server. It does not touch data that lockproof has not written.
	Delete(ctx context.Context, server Server, name string) error
}

// Watcher observes a campaign from outside. It changes nothing, and may be any build of lockproof.
type Watcher interface {
	// Look returns the status of the campaign.
	Look(ctx context.Context) (*Status, error)
	// Page returns the campaign's last stored page if it has changed since the last call. Otherwise, or if there is no
	// page, it returns nil.
	Page(ctx context.Context) ([]byte, error)
	// Close ends the observation.
	Close()
}

// RunConfig says which campaign to run, and how.
type RunConfig struct {
	Plan   *Plan
	Server Server
	// Workers is the number of shards that this process carries out in parallel. It may be 0 if there are workers
	// elsewhere.
	Workers int
	// AllowExec is the plan's command, or its [ExecHash]. It allows this process to run the command although it has no
	// workers, to reproduce and minimise the workers' violations.
	AllowExec string
	Options
	// Watch is called about once a second with the progress. It may be nil.
	Watch func(*Status)
	// Page renders a page of the results. It is called periodically with the status, and at the end with a nil status.
	// A [Watcher] can read the page. Page may be nil.
	Page func(*Outcome, *Status) []byte
}

// WorkConfig says which campaign's shards to carry out.
type WorkConfig struct {
	Server Server
	// Name is the campaign's name. "" means the only campaign on the server, whose target then must not be a command.
	Name string
	// AllowExec is the command that the campaign may run here, or its [ExecHash]; "" allows none.
	AllowExec string
	// Workers is the number of shards carried out in parallel, at least 1.
	Workers int
	Options
	// Done is called after each shard with the number of shards completed so far. It may be nil.
	Done func(shards int)
}

// Server says where a campaign's queue is: on the server at URL, or in this process with its files in Dir.
type Server struct {
	// URL is the URL of a NATS server or cluster with JetStream. Several URLs are separated by commas.
	URL string
	// Dir is the folder for the files of the server in this process, if URL is "".
	Dir string
	// Within is a folder that must contain Dir, after all links are resolved. "" means no restriction, because the user
	// has named Dir.
	Within string
	// Creds and NKey are files with NATS credentials: a user's credentials, or the seed of an NKey.
	Creds, NKey string
	// Cert, Key and CA are files for TLS, as in NATS: a client's certificate and key, and the authority that signed the
	// server's certificate.
	Cert, Key, CA string
}

// Folder is the path of Dir, for writing.
func (s *Server) Folder() outfile.Place { return outfile.Place{Path: s.Dir, Folder: s.Within} }

// File is the path of a file in Dir, for writing.
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
