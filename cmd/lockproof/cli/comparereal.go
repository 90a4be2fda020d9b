package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockproof/lockproof/adapters/amqp/rabbitmq"
	"github.com/lockproof/lockproof/adapters/container"
	"github.com/lockproof/lockproof/adapters/measure"
	"github.com/lockproof/lockproof/cmd/lockproof/servers"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/model/lock"
)

// realServer is a kind of server on which locks are measured.
type realServer struct {
	title   string
	image   string   // name of the image for containers
	schemes []string // schemes of the server's addresses
	// find finds a server at an address or starts one from an image. For the address "" it looks at the default
	// address. The server is closed when the command ends.
	find func(c *cobra.Command, address string) (measure.Server, error)
}

// realServers are all kinds of real servers.
var realServers = slices.Concat(
	[]realServer{{"RabbitMQ", "rabbitmq", []string{"amqp", "amqps"}, measuredRabbitMQ}},
	measuredOthers(),
)

func measuredRabbitMQ(c *cobra.Command, address string) (measure.Server, error) {
	b, err := started(c, rabbitmq.Options{URL: address, Flag: "--on", There: true, Container: containers})
	if err != nil {
		return nil, err
	}
	atEnd(c, b.Stop)
	return b.Measured(), register(c, b)
}

func measuredOthers() (all []realServer) {
	for i := range others {
		kind := &others[i]
		all = append(all, realServer{kind.title, kind.names[0], kind.schemes, func(c *cobra.Command, address string) (measure.Server, error) {
			s, err := kind.find(c, address)
			if err != nil {
				return nil, err
			}
			return s.Measured(c.Context())
		}})
	}
	return all
}

// at reports whether an address or an image belongs to this kind of server.
func (s *realServer) at(address string) bool {
	if i, ok := container.Parse(address); ok {
		return i.Name == s.image
	}
	scheme, _, ok := strings.Cut(address, "://")
	return ok && slices.Contains(s.schemes, scheme)
}

// addressed returns the addresses and images of --on, by the title of the kind of server.
func addressed(on []string) (map[string]string, error) {
	at := make(map[string]string)
	for _, address := range on {
		i := slices.IndexFunc(realServers, func(s realServer) bool { return s.at(address) })
		if i < 0 {
			return nil, fmt.Errorf("--on: expected addresses that begin with amqp://, redis://, mysql://, postgres:// or http://, which is Consul's, or images such as redis:7.4; or simulated alone")
		}
		if title := realServers[i].title; at[title] != "" {
			return nil, fmt.Errorf("--on names two of %s: expected one", title)
		}
		at[realServers[i].title] = address
	}
	return at, nil
}

// reals finds the servers that some locks need. It reports a server that is missing. If --on names that server, this is
// an error.
func reals(c *cobra.Command, on []string, targets []*lock.Target) (map[string]measure.Server, []report.ComparedServer, error) {
	at, err := addressed(on)
	if err != nil {
		return nil, nil, err
	}
	found, told := make(map[string]measure.Server), []report.ComparedServer(nil)
	for _, t := range targets {
		title := lock.BackendOf(t).Title
		if slices.ContainsFunc(told, func(s report.ComparedServer) bool { return s.Title == title }) {
			continue
		}
		s := report.ComparedServer{Title: title}
		i := slices.IndexFunc(realServers, func(r realServer) bool { return r.title == title })
		if i < 0 {
			s.Missing = "lockproof has no clients that use its locks there; they are compared on the simulated server alone"
		} else if server, err := realServers[i].find(c, at[title]); err == nil {
			found[title], s.Version = server, server.Name()
		} else if at[title] != "" || c.Context().Err() != nil {
			return nil, nil, err
		} else {
			s.Missing = err.Error()
		}
		told = append(told, s)
	}
	return found, told, nil
}

// measuring returns a function that measures a lock on a server in found. left is the time for all locks, and of is
// their number.
func measuring(found map[string]measure.Server, clients []int, left time.Duration, of int) func(context.Context, *lock.Target) (*report.Measured, string, error) {
	return func(ctx context.Context, t *lock.Target) (*report.Measured, string, error) {
		began, each := time.Now(), left/time.Duration(of)
		defer func() { left, of = max(0, left-time.Since(began)), max(1, of-1) }()
		title := lock.BackendOf(t).Title
		if found[title] == nil {
			return nil, "there is no real " + title, nil
		}
		m, err := measure.Run(ctx, found[title], t, measure.Load{Clients: clients, Time: each})
		return m, "", err
	}
}

// reachable hands the command line over to lockproof-servers if this program lacks a driver that the locks need, or
// cannot start a container. If lockproof-servers is not available, the databases count as missing, but for a container
// this is an error.
func reachable(c *cobra.Command, on []string, targets []*lock.Target) error {
	contained := containers == nil && slices.ContainsFunc(on, func(address string) bool { _, image := container.Parse(address); return image })
	needed := func(t *lock.Target) bool { return otherOf(t.Backend) != nil && finders[t.Backend] == nil }
	if !contained && !slices.ContainsFunc(targets, needed) {
		return nil
	}
	path, err := serversProgram.there(c.Context())
	if err == nil {
		return become(path)
	}
	if contained {
		return err
	}
	all := make(servers.Finders)
	maps.Copy(all, finders)
	for _, kind := range others {
		if all[kind.backend] == nil {
			all[kind.backend] = func(context.Context, string) (servers.Server, error) { return nil, err }
		}
	}
	finders = all
	return nil
}
