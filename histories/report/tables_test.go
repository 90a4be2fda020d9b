package report

import (
	"encoding/csv"
	"slices"
	"strings"
	"testing"
)

// TestTables: the text of a cell survives in Markdown, CSV and LaTeX, even with special characters.
func TestTables(t *testing.T) {
	odd := []string{`a|b & <c> [d] 50 % _x_ \y {z} $1 #2 ~ ^`, "two, \"words\"", ""}
	markdown := "# All\n\ntext\n\n## One table\n\nCells are seconds.\n\n| a | b | c |\n| --- | --- | --- |\n| " + cell(odd[0]) + " | " + cell(odd[1]) + " | |\n\n    | no table\n"
	tables := TablesOf(markdown)
	if len(tables) != 1 || tables[0].Title != "One table" || !slices.Equal(tables[0].Head, []string{"a", "b", "c"}) || len(tables[0].Rows) != 1 || !slices.Equal(tables[0].Rows[0], odd) {
		t.Fatalf("%+v", tables)
	}
	if tables[0].Legend != "Cells are seconds." {
		t.Errorf("the legend is %q", tables[0].Legend)
	}
	for _, last := range []string{"", "why"} {
		noted := TablesOf("| a | |\n| --- | --- |\n| 1 | " + last + " |\n")[0]
		if want := map[string]string{"": "a", "why": "a,note"}[last]; strings.Join(noted.Head, ",") != want || len(noted.Rows[0]) != len(noted.Head) {
			t.Errorf("a last column with %q: %+v", last, noted)
		}
	}
	var b strings.Builder
	if err := WriteTables(&b, "x.csv", tables); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "# Cells are seconds.\n") {
		t.Errorf("no legend in\n%s", &b)
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

// FuzzTablesOf: the tables found in any text can be written.
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
