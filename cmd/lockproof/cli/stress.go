package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/lockproof/lockproof/adapters/engine/recorded"
	"github.com/lockproof/lockproof/adapters/engine/sample"
	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/model/history"
)

// stress lets many clients use the target at once on a real broker, and judges the history.
func (f *proveFlags) stress(c *cobra.Command, cfg sample.Config) error {
	s := recorded.StressConfig{
		Target: cfg.Target, Options: cfg.Options, Restarts: f.restarts, Judging: cfg.Judging, Keep: f.keep,
	}
	if err := s.Check(); err != nil {
		return err
	}
	if err := f.elsewhere(cfg.Target.Backend, cfg.Target.Name, unstressed); err != nil {
		return err
	}
	var err error
	if s.Load, err = f.load(c, cfg.Target.Kind, cfg.Seed); err != nil {
		return err
	}
	broker, err := f.start(c, f.restarts > 0)
	if err != nil {
		return err
	}
	line := newProgress()
	s.Load.Progress = func(rounds, of int) { line.part(rounds, of, "round %d of %d on %s", rounds, of, broker.Version) }
	res, err := recorded.Stress(c.Context(), broker, s)
	line.done()
	if res == nil {
		return err
	}
	return f.write(c, res, err)
}

// keep writes the history to a file before it is judged, so that a crash of the checker does not lose it. It returns
// the file's path.
func (f *proveFlags) keep(h *history.History, target string) (path string, err error) {
	out := f.command.Flags().Lookup("out")
	at := inFolder(out, histories.HistoryName(target))
	if err := placeOf(out).Make(); err != nil {
		return "", fmt.Errorf("history: %w; --out names another directory", err)
	}
	if err := at.Write(func(w io.Writer) error { return histories.WriteHistory(w, h) }); err != nil {
		return "", fmt.Errorf("history: %w", err)
	}
	return at.Path, nil
}
