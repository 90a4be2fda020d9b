package cli

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockproof/lockproof/histories/report"
)

// formFile is the value of a flag for a file whose suffix determines its format.
type formFile struct {
	name    string
	endings []string
}

// Set implements pflag.Value.
func (f *formFile) Set(name string) error {
	if name != "" && !slices.Contains(f.endings, filepath.Ext(name)) {
		return fmt.Errorf("expected a name that ends with %s", strings.Join(f.endings, " or "))
	}
	f.name = name
	return nil
}

func (f *formFile) String() string { return f.name }

// Type implements pflag.Value.
func (*formFile) Type() string { return "string" }

// registerTables registers the flags --markdown and --tables, which write the printed text as Markdown, and its tables
// in other formats.
func registerTables(cmd *cobra.Command) {
	cmd.Flags().String("markdown", "", "write it as Markdown to a `FILE`")
	cmd.Flags().Var(&formFile{endings: report.TableForms}, "tables", "write its tables to a `FILE`, as CSV if its name ends with .csv, and as LaTeX with .tex")
}

// writeTables writes the files of the flags that [registerTables] registers.
func writeTables(c *cobra.Command, markdown func(io.Writer) error) error {
	return all(writeFile(c, "markdown", markdown), writeFile(c, "tables", func(w io.Writer) error {
		var text strings.Builder
		if err := markdown(&text); err != nil {
			return err
		}
		return report.WriteTables(w, c.Flags().Lookup("tables").Value.String(), report.TablesOf(text.String()))
	}))
}
