package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/lockproof/lockproof/adapters/consul"
)

// consulFlags say where the simulated Consul listens.
type consulFlags struct {
	listen   string
	anywhere bool
}

func consulCommand() *cobra.Command {
	f := new(consulFlags)
	cmd := &cobra.Command{
		Use:   "consul",
		Short: "run the simulated Consul for any of its HTTP clients, until interrupted",
		Long: `consul runs the simulated Consul for any of its HTTP clients, until interrupted.

It has sessions and keys, with check-and-set, acquire and release, and blocking queries, as
Consul's HTTP API has them under /v1/session and /v1/kv. Everything else it answers with
501. Nothing is kept when it ends.

Anybody who reaches its address can use it. So it listens on this machine alone, unless
--listen-anywhere is given. It prints its address first.`,
		Example: `  lockproof consul --listen 127.0.0.1:8501`,
		GroupID: "beside", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c) },
	}
	cmd.Flags().StringVar(&f.listen, "listen", "127.0.0.1:8501", "the `ADDRESS` to listen on; port 0 picks a free one")
	cmd.Flags().BoolVar(&f.anywhere, "listen-anywhere", false, "allow --listen with an address that other machines can reach")
	return cmd
}

// run serves until it is interrupted. An interrupt is the normal end and no error.
func (f *consulFlags) run(c *cobra.Command) error {
	if err := local(f.listen, f.anywhere, "without a password"); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", f.listen)
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	server := &http.Server{Handler: new(consul.Server), BaseContext: func(net.Listener) context.Context { return c.Context() }}
	fmt.Fprintln(c.OutOrStdout(), "http://"+listener.Addr().String())
	stop := context.AfterFunc(c.Context(), func() { _ = server.Close() }) // closes the clients' connections
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
