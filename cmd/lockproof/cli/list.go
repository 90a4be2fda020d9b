package cli

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

func listCommand() *cobra.Command {
	lists := map[string]func(io.Writer){"targets": listTargets, "properties": listProperties, "options": listOptions}
	return &cobra.Command{
		Use:       "list [targets|properties|options]",
		Short:     "list targets, properties and options",
		ValidArgs: []string{"targets", "properties", "options"},
		Args:      cobra.MatchAll(cobra.MaximumNArgs(1), cobra.OnlyValidArgs),
		RunE: func(c *cobra.Command, args []string) error {
			w := tabwriter.NewWriter(c.OutOrStdout(), 0, 0, 2, ' ', 0)
			if len(args) == 1 {
				lists[args[0]](w)
				return w.Flush()
			}
			for i, name := range c.ValidArgs {
				if i > 0 {
					fmt.Fprintln(w)
				}
				fmt.Fprintf(w, "%s\n", name)
				lists[name](w)
				w.Flush() // each list has columns of its own
			}
			return nil
		},
	}
}

func listTargets(w io.Writer) {
	for _, t := range engine.Targets() {
		fmt.Fprintf(w, "  %s\t%s\n", t.Name, t.Doc)
	}
}

func listProperties(w io.Writer) {
	for _, p := range property.Properties {
		fmt.Fprintf(w, "  %s\t%s\n", p.Name, p.Sentence)
	}
}

func listOptions(w io.Writer) {
	def := lock.DefaultOptions()
	for _, o := range lock.OptionTable {
		fmt.Fprintf(w, "  %s\t%s\t%s\t%s\n", o.Name, o.Get(&def), o.Values, o.Doc)
	}
}
