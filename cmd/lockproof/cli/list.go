package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockproof/lockproof/histories/style"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// list is a list that the command `list` can print.
type list struct {
	name  string
	write func(io.Writer) error
}

var lists = []list{{"targets", listTargets}, {"properties", listProperties}, {"options", listOptions}}

func listCommand() *cobra.Command {
	var names []string
	for _, l := range lists {
		names = append(names, l.name)
	}
	return &cobra.Command{
		Use:   "list [targets|properties|options]",
		Short: "list targets, properties and options",
		Long: `Lists, by their servers: the targets, which are the reference locks and the mutants; the
properties that they are judged by; and the options with the values that they may have.`,
		Example: `  lockproof list
  lockproof list targets`,
		GroupID: "beside", ValidArgs: names, Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			w := c.OutOrStdout()
			if len(args) == 1 {
				i := slices.Index(names, args[0])
				if i < 0 {
					return fmt.Errorf("%q: expected one of %s%s", args[0], strings.Join(names, ", "), didYouMean(args[0], names))
				}
				return lists[i].write(w)
			}
			for i, l := range lists {
				if i > 0 {
					fmt.Fprintln(w)
				}
				fmt.Fprintf(w, "%s\n", l.name)
				if err := l.write(w); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// narrowest is the minimum width of a column of sentences. If a line has less room, the sentences get lines of their
// own.
const narrowest = 36

// writeTable writes rows in columns. The last cell of a row is wrapped if necessary.
func writeTable(w io.Writer, rows [][]string) error {
	var t style.Table
	for _, row := range rows {
		var cells []style.Span
		for _, cell := range row[:len(row)-1] {
			cells = append(cells, style.Plain.Of(cell))
		}
		t.Add(cells...)
	}
	s := outputStyle()
	var b strings.Builder
	for i, l := range t.Lines(2) {
		words, margin := strings.Fields(rows[i][len(rows[i])-1]), l.Width()+2
		if len(words) == 0 {
			s.Paint(&b, l)
			continue
		}
		if s.Columns()-margin < narrowest {
			s.Paint(&b, l)
			l, margin = nil, 6
		}
		for _, part := range style.Beside(l, words, style.Plain, margin, s.Columns()-margin) {
			s.Paint(&b, part)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// listTargets lists the correct locks, and separately those with a bug.
func listTargets(w io.Writer) error {
	write := func(title string, targets []*lock.Target) error {
		fmt.Fprintln(w, title)
		var rows [][]string
		for _, t := range targets {
			rows = append(rows, []string{t.Name, t.Doc})
		}
		return writeTable(w, rows)
	}
	for i, b := range lock.Backends() {
		on := ""
		if i > 0 {
			on = " on " + b.Title
			fmt.Fprintln(w)
		}
		if err := write("references"+on+", which are right:", b.References); err != nil {
			return err
		}
		if err := write("mutants"+on+", which are a reference with one bug each:", b.Mutants); err != nil {
			return err
		}
	}
	return nil
}

func listProperties(w io.Writer) error {
	var rows [][]string
	for _, p := range property.Properties {
		rows = append(rows, []string{p.Name, p.Sentence})
	}
	return writeTable(w, rows)
}

// widestValues is the maximum length of an option's values, in characters, for a column of their own.
const widestValues = 36

func listOptions(w io.Writer) error {
	for i, b := range lock.Backends() {
		if len(b.Defaults.Table()) == 0 {
			continue
		}
		if i > 0 {
			fmt.Fprintf(w, "\nof locks on %s\n", b.Title)
		}
		rows := [][]string{{"option", "default", "values", ""}}
		for _, o := range b.Defaults.Table() {
			values, doc := o.Values, o.Doc
			if len(values) > widestValues { // longer lists go into the sentence, which is wrapped
				values, doc = "", doc+": "+strings.ReplaceAll(values, "|", ", ")
			}
			rows = append(rows, []string{o.Name, b.Defaults.Value(o.Name), values, doc})
		}
		if err := writeTable(w, rows); err != nil {
			return err
		}
	}
	return nil
}
