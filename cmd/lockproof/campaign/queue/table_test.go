package queue_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/lockproof/lockproof/adapters/engine/explore"
	"github.com/lockproof/lockproof/cmd/lockproof/campaign"
	"github.com/lockproof/lockproof/cmd/lockproof/campaign/queue"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/model/property"
)

const table = `{"lockproof": "campaign", "version": 1, "name": "choices", "shard": 3,
	"judge": {"properties": ["removal-drains", "survives-restart", "no-leak"]},
	"sweep": {"options": [{"name": "verify-first", "values": ["true", "false"]}, {"name": "durable", "values": ["true", "false"]}],
	"sizes": [{"clients": 2, "slots": 1, "admins": 1}], "faults": [{}, {"restarts": 1}]}}`

// TestTable checks that a sweep visits every combination, with the verdicts that exploring it alone gives. It must find
// the option values that cause violations.
func TestTable(t *testing.T) {
	many(t)
	server := campaign.Server{Dir: filepath.Join(t.TempDir(), "queue")}
	out, err := queue.Run(t.Context(), campaign.RunConfig{Plan: plan(t, table), Server: server, Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	s := out.Table
	if len(s.Rows) != 8 || !s.Complete() {
		t.Fatalf("%d rows, complete: %v; expected 8", len(s.Rows), s.Complete())
	}
	for i := range s.Rows {
		if testing.Short() && i%3 > 0 {
			continue
		}
		explored(t, s, &s.Rows[i])
	}
	for p, want := range map[property.Property]string{property.RemovalDrains: "verify-first=false (all 4)", property.SurvivesRestart: "durable=false with 1 broker restart (all 2)"} {
		causes := s.Causes(p)
		if len(causes) != 1 || causes[0].String() != want {
			t.Errorf("%v is lost with %v, expected %s", p, causes, want)
		}
		i := slices.IndexFunc(s.Examples, func(e report.SweepExample) bool { return e.Property == p })
		if i < 0 || !s.Examples[i].Least || out.Counterexamples[p] == nil {
			t.Errorf("%v has no shortest counterexample", p)
		}
	}
	if causes := s.Causes(property.NoLeak); len(causes) > 0 {
		t.Errorf("no-leak is lost with %v", causes)
	}
}

// explored checks that a row has the verdicts that exploring its configuration gives.
func explored(t *testing.T, s *report.Sweep, r *report.SweepRow) {
	t.Helper()
	e := explore.Exploration{Workload: explore.Workload{Clients: 2, Rounds: 1, Admins: 1, Slots: 1}}
	e.Options = [][2]string{{"pipeline", "0"}, {"verify-first", r.Values[0]}, {"durable", r.Values[1]}}
	if e.Faults.Late = true; r.Values[3] != "no faults" {
		e.Faults.Restarts = 1
	}
	for _, p := range s.Properties {
		e.Properties = e.Properties.With(p)
	}
	x, err := explore.Run(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	for k, p := range s.Properties {
		if want, _ := x.Report.Verdict(x.Report.Result(p)); r.Verdicts[k] != want {
			t.Errorf("%v: %v is %s, exploring it says %s", r.Values, p, r.Verdicts[k], want)
		}
	}
}

// TestConfigurations checks that each listed configuration becomes a row of the table.
func TestConfigurations(t *testing.T) {
	many(t)
	p := plan(t, `{"lockproof": "campaign", "version": 1, "name": "rows", "target": {"name": "mutex"}, "configurations": [
		{"clients": 2, "faults": {"crashes": 1}}, {"name": "three", "clients": 3, "options": ["release=close-channel"]}]}`)
	out, err := queue.Run(t.Context(), campaign.RunConfig{Plan: p, Server: campaign.Server{Dir: filepath.Join(t.TempDir(), "queue")}, Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	if rows := out.Table.Rows; len(rows) != 2 || rows[1].Values[0] != "three" || rows[0].States == 0 {
		t.Errorf("the rows are %+v", rows)
	}
}

// TestTables checks that the error for an invalid table is one line.
func TestTables(t *testing.T) {
	head := `{"lockproof": "campaign", "version": 1, "name": "night", `
	for text, says := range map[string]string{
		`"sweep": {}}`: "sizes are missing",
		`"sweep": {"sizes": [{"name": "a", "clients": 1}, {"name": "a", "clients": 2}]}}`:               "two sizes are called",
		`"sweep": {"sizes": [{}]}, "sample": {}}`:                                                       "expected one of sample, mutants, configurations and sweep",
		`"sweep": {"sizes": [{"clients": 99}]}}`:                                                        "99 clients",
		`"sweep": {"sizes": [{"slots": 99}]}}`:                                                          "99 slots",
		`"configurations": [{"calls": "sing"}]}`:                                                        `configuration 1: calls: "sing"`,
		`"configurations": [{"options": ["x=y"]}]}`:                                                     `option "x"`,
		`"sweep": {"options": [{"name": "order", "values": ["up"]}], "sizes": [{"clients": 1}]}}`:       "option order",
		`"sweep": {"options": [{"name": "order", "values": []}], "sizes": [{"clients": 1}]}}`:           "at least one value",
		`"sweep": {"sizes": [{"clients": 1}]}, "stop": {"violation": ["any"]}}`:                         "leave them out",
		`"sweep": {"sizes": [{"clients": 1}]}, "target": {"exec": "cat"}}`:                              "targets of ours",
		`"sweep": {"sizes": [{"clients": 1}]}, "judge": {"properties": ["sofa"]}}`:                      `property "sofa"`,
		`"sample": {}, "target": {"exec": "cat", "name": "mutex"}}`:                                     "beside exec",
		`"sample": {}, "target": {"exec": "cat", "lock": "sofa"}}`:                                      `lock type "sofa"`,
		`"sample": {"options": ["order=ascending"]}, "target": {"exec": "cat"}}`:                        "a command has its own",
		`"sample": {}, "target": {"exec": "cat"}, "stop": {"no_new_coverage": 3}}`:                      "leave it out",
		`"sample": {}, "target": {"exec": "cat", "lock": "mutex"}, "stop": {"violation": ["no-such"]}}`: "no-such",
	} {
		_, err := campaign.Decode([]byte(head + text))
		if err == nil {
			t.Errorf("%s is taken", text)
			continue
		}
		expect(t, err.Error(), says)
	}
}
