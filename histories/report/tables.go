package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/lockproof/lockproof/histories/safetext"
)

// Table is one table of a report, in plain text: a title, an explanation of the cells, the names of columns, and the
// rows.
type Table struct {
	Title  string
	Legend string
	Head   []string
	Rows   [][]string
}

// TablesOf extracts the tables from a Markdown report that lockproof has written. A table's title is the heading above
// it.
func TablesOf(markdown string) (all []Table) {
	title, legend, inside := "", "", false
	for line := range strings.Lines(markdown) {
		line = strings.TrimRight(line, " \r\n")
		if heading := strings.TrimLeft(line, "#"); heading != line {
			title, legend = strings.TrimSpace(heading), ""
			inside = false
			continue
		}
		if !strings.HasPrefix(line, "| ") {
			inside = false
			if line != "" && !strings.HasPrefix(line, " ") {
				legend = strings.TrimSpace(legend + " " + outOfCell.Replace(line))
			}
			continue
		}
		cells := cellsOf(line)
		switch {
		case !inside:
			all, inside = append(all, Table{Title: title, Legend: legend, Head: cells}), true
			legend = ""
		case strings.Trim(line, "|- ") != "":
			last := &all[len(all)-1]
			last.Rows = append(last.Rows, cells)
		}
	}
	for i := range all {
		all[i].nameLast()
	}
	return all
}

// nameLast gives the last column, which has no heading, the heading "note". If the column is empty, it removes it.
func (t *Table) nameLast() {
	last := len(t.Head) - 1
	if last < 1 || t.Head[last] != "" {
		return
	}
	for _, row := range t.Rows {
		if len(row) > last && row[last] != "" {
			t.Head[last] = "note"
			return
		}
	}
	t.Head = t.Head[:last]
	for i, row := range t.Rows {
		t.Rows[i] = row[:min(last, len(row))]
	}
}

// cellsOf splits a line of a Markdown table into its cells.
func cellsOf(line string) []string {
	line = strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(line, "|"), "|"), `\|`, "\x00")
	cells := strings.Split(line, "|")
	for i := range cells {
		cells[i] = outOfCell.Replace(strings.TrimSpace(cells[i]))
	}
	return cells
}

// outOfCell undoes the escaping that [cell] does.
var outOfCell = strings.NewReplacer("\x00", "|", "&lt;", "<", "&amp;", "&", `\[`, "[", "`", "")

// TableForms are the endings of files to which tables can be written.
var TableForms = []string{".csv", ".tex"}

// WriteTables writes tables to w, in the form of a file with one of the endings in [TableForms]. In CSV, titles and
// legends are comments. In LaTeX, they are captions and notes.
func WriteTables(w io.Writer, file string, tables []Table) error {
	write := writeCSV
	if filepath.Ext(file) == ".tex" {
		write = writeLaTeX
	}
	return write(safetext.NewWriter(w), tables)
}

func writeCSV(w io.Writer, tables []Table) error {
	for i, t := range tables {
		space := "\n"
		if i == 0 {
			space = ""
		}
		if _, err := fmt.Fprintf(w, "%s# lockproof: %s\n", space, t.Title); err != nil {
			return err
		}
		if t.Legend != "" {
			if _, err := fmt.Fprintf(w, "# %s\n", t.Legend); err != nil {
				return err
			}
		}
		if err := csv.NewWriter(w).WriteAll(append([][]string{t.Head}, t.Rows...)); err != nil {
			return err
		}
	}
	return nil
}

func writeLaTeX(w io.Writer, tables []Table) error {
	row := func(cells []string) string {
		var escaped []string
		for _, c := range cells {
			escaped = append(escaped, inLaTeX.Replace(c))
		}
		return strings.Join(escaped, " & ") + ` \\` + "\n"
	}
	for i, t := range tables {
		var b strings.Builder
		if i == 0 {
			b.WriteString("% lockproof wrote these tables. XeLaTeX and LuaLaTeX have all of their characters.\n")
		}
		fmt.Fprintf(&b, "\\begin{table}\n\\caption{%s}\n\\begin{tabular}{%s}\n\\hline\n%s\\hline\n", inLaTeX.Replace(t.Title), strings.Repeat("l", len(t.Head)), row(t.Head))
		for _, cells := range t.Rows {
			b.WriteString(row(cells))
		}
		b.WriteString("\\hline\n\\end{tabular}\n")
		if t.Legend != "" {
			fmt.Fprintf(&b, "\n\\smallskip\n{\\footnotesize %s}\n", inLaTeX.Replace(t.Legend))
		}
		b.WriteString("\\end{table}\n")
		if _, err := io.WriteString(w, b.String()); err != nil {
			return err
		}
	}
	return nil
}

// inLaTeX escapes text so that LaTeX finds no command in it.
var inLaTeX = strings.NewReplacer(
	`\`, `\textbackslash{}`, "{", `\{`, "}", `\}`, "$", `\$`, "&", `\&`, "#", `\#`, "%", `\%`, "_", `\_`, "~", `\textasciitilde{}`, "^", `\textasciicircum{}`,
)
