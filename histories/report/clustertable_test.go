package report

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/lockproof/lockproof/histories/style"
)

// measured is a sample table of two lock designs, one of which fails.
func measured() *ClusterTable {
	return &ClusterTable{
		Tool: "0.1.0", Server: "RabbitMQ 3.10.8, clusters of 3 nodes", Command: "lockproof cluster table", Faults: []string{"cut", "kill"}, Modes: []string{"ignore", "autoheal"},
		Cells: []ClusterCell{
			{Design: "classic-token", Placement: "A n2, B n1, queue n1", Mode: "ignore", Fault: "cut", Runs: []ClusterRun{
				{Twice: true, Together: 3 * time.Second, Standing: true, Tokens: 1}, {Twice: true, Together: 400 * time.Millisecond, Told: "basic.cancel", Tokens: 2},
			}},
			{Design: "classic-token", Placement: "A n2, B n1, queue n1", Mode: "autoheal", Fault: "cut", Runs: []ClusterRun{{Lost: true, Stuck: true, Tokens: 0}, {Failed: "x"}}},
			{Design: "exclusive-queue", Placement: "A n1, B n2", Mode: "ignore", Fault: "kill", Runs: []ClusterRun{{Tokens: -1}, {Tokens: 1, Twice: true, Together: time.Millisecond}}},
		},
		Interrupted: true,
	}
}

// TestClusterTable: each cell of the table shows its runs, on a terminal and in Markdown. A fault without a cell is
// left out.
func TestClusterTable(t *testing.T) {
	table := measured()
	var card, markdown bytes.Buffer
	if err := WriteClusterTable(&card, table, style.Style{Width: 120}); err != nil {
		t.Fatal(err)
	}
	if err := WriteClusterMarkdown(&markdown, table); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"∞, 0.4 2 tokens", "0 lost stuck 0 tokens, ?", "0, <0.1", "basic.cancel", "interrupted", "repeat it: lockproof cluster table"} {
		if !strings.Contains(card.String(), want) {
			t.Errorf("the card has no %q:\n%s", want, card.String())
		}
	}
	for _, want := range []string{"| classic-token | A n2, B n1, queue n1 | ∞, 0.4 2 tokens | 0 lost stuck 0 tokens, ? | basic.cancel |", "\n## kill\n", "    lockproof cluster table\n"} {
		if !strings.Contains(markdown.String(), want) {
			t.Errorf("the Markdown has no %q:\n%s", want, markdown.String())
		}
	}
	if !table.Wrong() {
		t.Error("no lock failed")
	}
	table.Cells = []ClusterCell{{Runs: []ClusterRun{{Tokens: 1}}}}
	if table.Wrong() {
		t.Error("a lock failed")
	}
}
