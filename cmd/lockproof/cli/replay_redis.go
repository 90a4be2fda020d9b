package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/redis"
	"github.com/lockproof/lockproof/histories/safetext"
)

// replayRedis carries out a counterexample of a lock on Redis on a real one, and says how that compares.
func replayRedis(c *cobra.Command, on *onFlags, w io.Writer, r *engine.Replayed) error {
	url, _ := on.real()
	if url == "redis" {
		url = ""
	}
	if on.on == "rabbitmq" || url != "" && !strings.HasPrefix(url, "redis://") && !strings.HasPrefix(url, "rediss://") {
		return fmt.Errorf("%s stands on Redis: expected --on redis or an address such as redis://127.0.0.1:6379/0", r.Target.Name)
	}
	server, err := redis.Find(c.Context(), url)
	if err != nil {
		return err
	}
	atEnd(c, server.Close)
	real, err := server.Replay(c.Context(), r.Trace)
	if err != nil {
		return err
	}
	r.Server = server.Version
	fmt.Fprintln(safetext.NewWriter(w), real)
	switch {
	case real.Skipped != "":
		return fmt.Errorf("replaying on %s: skipped: %s", server.Version, real.Skipped)
	case r.Violation == nil || !real.Reproduces(*r.Violation):
		return nil
	}
	fmt.Fprintf(w, "%s: reproduced: %s\n", r.Violation.Property, safetext.Escape(r.Violation.Explain()))
	return errViolated
}
