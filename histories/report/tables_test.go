package report

import (
	"encoding/csv"
	"slices"
	"strings"
	"testing"
)

// TestTables: what stands in a table's cells is the same in Markdown, CSV and LaTeX, whatever it has.
func TestTables(t *testing.T) {
	odd := []string{`a|b & <c> [d] 50 % _x_ \y {z} $1 #2 ~ ^`, "two, \"words\"", ""}
	markdown := "# All\n\ntext\n\n## One table\n\n| a | b | c |\n| --- | --- | --- |\n| " + cell(odd[0]) + " | " + cell(odd[1]) + " | |\n\n    | no table\n"
	tables := TablesOf(markdown)
	if len(tables) != 1 || tables[0].Title != "One table" || !slices.Equal(tables[0].Head, []string{"a", "b", "c"}) || len(tables[0].Rows) != 1 || !slices.Equal(tables[0].Rows[0], odd) {
		t.Fatalf("%+v", tables)
	}
	var b strings.Builder
	if err := WriteTables(&b, "x.csv", tables); err != nil {
		t.Fatal(err)
	}
	r := csv.NewReader(strings.NewReader(b.String()))
	r.Comment = '#'
	rows, err := r.ReadAll()
	if err != nil || len(rows) != 2 || !slices.Equal(rows[1], odd) {
		t.Errorf("%v %q", err, rows)
	}
	b.Reset()
	if err := WriteTables(&b, "x.tex", tables); err != nil {
		t.Fatal(err)
	}
	if want := `a|b \& <c> [d] 50 \% \_x\_ \textbackslash{}y \{z\} \$1 \#2 \textasciitilde{} \textasciicircum{} & two, "words" &  \\`; !strings.Contains(b.String(), want) {
		t.Errorf("%s", &b)
	}
}

// FuzzTablesOf: any text has tables whose rows can be written.
func FuzzTablesOf(f *testing.F) {
	f.Add("## A\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n")
	f.Fuzz(func(t *testing.T, markdown string) {
		tables := TablesOf(markdown)
		var b strings.Builder
		for _, form := range TableForms {
			if err := WriteTables(&b, "x"+form, tables); err != nil {
				t.Error(err)
			}
		}
	})
}
