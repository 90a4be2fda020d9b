//go:build unix

package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockproof/lockproof/cmd/lockproof/campaign"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/internal/natstest"
	"github.com/lockproof/lockproof/model/property"
)

// campaignFile writes a campaign's file and returns its path.
func campaignFile(t *testing.T, p *campaign.Plan) string {
	t.Helper()
	p.Lockproof, p.Version = campaign.Format, campaign.Version
	data, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), p.Name+".json")
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestRenamedMembers checks the error for a member of a campaign's file that has been renamed. It must say the new
// name.
func TestRenamedMembers(t *testing.T) {
	for was, now := range map[string]string{`"crashes": 0.1`: "it is called crash_share now", `"depth": 3`: "it is called pct_depth now", `"colour": 3`: "colour"} {
		path := filepath.Join(t.TempDir(), "old.json")
		text := `{"lockproof": "campaign", "version": 1, "name": "old", "sample": {` + was + `}}`
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if code := run([]string{"campaign", "run", path, "--dir", filepath.Join(t.TempDir(), "queue")}, &out, &out); code != exitCannot || strings.Count(out.String(), "\n") != 1 || !strings.Contains(out.String(), now) {
			t.Errorf("%s: exit code %d, %q", was, code, out.String())
		}
	}
}

// TestCampaignOfACommand runs a campaign over an external lock with a bug. It must find the bug and write one minimised
// counterexample, which replays.
func TestCampaignOfACommand(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: -short leaves out what takes programs")
	}
	t.Parallel()
	command := adapter("locked-is-success")
	path := campaignFile(t, &campaign.Plan{
		Name: "buggy", Target: campaign.Target{Exec: command}, Budget: campaign.Budget{Executions: 5}, Shard: 3,
		Sample: &campaign.Sample{Seed: 7, Properties: []string{"mutual-exclusion"}}, Stop: campaign.Stop{Violation: []string{"any"}},
	})
	dir := t.TempDir()
	var out, errs bytes.Buffer
	code := run([]string{"campaign", "run", path, "--allow-exec", command, "--dir", filepath.Join(dir, "queue"), "--out", filepath.Join(dir, "ce")}, &out, &errs)
	if code != exitViolated || !strings.Contains(out.String(), "✗ violated  mutual-exclusion") {
		t.Fatalf("exit code %d\n%s%s", code, out.String(), errs.String())
	}
	files, err := filepath.Glob(filepath.Join(dir, "ce", "*.json"))
	if err != nil || len(files) != 1 {
		t.Fatalf("the counterexamples are %v, %v", files, err)
	}
	out.Reset()
	if code := run([]string{"replay", "--run-exec", files[0]}, &out, &errs); code != exitViolated {
		t.Errorf("replaying: exit code %d\n%s%s", code, out.String(), errs.String())
	}
}

// TestClaimsOfWorkers checks a violation that a worker reports for an external lock. If the runner may run the command,
// it repeats the violation, and the verdict is that of a single machine. Otherwise the violation is only suspected, and
// the runner says so.
func TestClaimsOfWorkers(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: -short leaves out what takes programs")
	}
	t.Parallel()
	command := adapter("locked-is-success")
	path := campaignFile(t, &campaign.Plan{
		Name: "claims", Target: campaign.Target{Exec: command}, Budget: campaign.Budget{Executions: 5}, Shard: 3,
		Sample: &campaign.Sample{Seed: 7, Properties: []string{"mutual-exclusion"}},
	})
	for allowed, want := range map[string]report.Verdict{"": report.Suspected, command: report.Violated} {
		plan, err := campaign.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		server := campaign.Server{URL: natstest.Start(t, "").URL}
		var said []string
		worked := make(chan error, 1)
		go func() {
			for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
				err := campaigns.Work(t.Context(), campaign.WorkConfig{Server: server, Name: "claims", AllowExec: command, Workers: 1})
				if err == nil || time.Now().After(end) { // earlier attempts fail: the campaign does not exist yet
					worked <- err
					return
				}
			}
		}()
		out, err := campaigns.Run(t.Context(), campaign.RunConfig{
			Plan: plan, Server: server, AllowExec: allowed, Options: campaign.Options{Said: func(s string) { said = append(said, s) }},
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := <-worked; err != nil {
			t.Error(err)
		}
		r := out.Result.Report
		if got, _ := r.Verdict(r.Result(property.MutualExclusion)); got != want {
			t.Errorf("allowed %q: mutual-exclusion is %s, expected %s", allowed, got, want)
		}
		if told := strings.Contains(strings.Join(said, " "), "the command may not be run here, so it is suspected"); told != (allowed == "") {
			t.Errorf("allowed %q: it is said %q", allowed, said)
		}
	}
}

// TestCampaignPages checks the page of each kind of campaign. While the campaign runs, the page shows the progress and
// reloads itself. At the end it shows the result. A watcher gets the same page.
func TestCampaignPages(t *testing.T) {
	t.Parallel()
	plans := map[string]*campaign.Plan{
		"mutual-exclusion": {Name: "sample", Target: campaign.Target{Name: "locked-is-success"}, Sample: &campaign.Sample{}, Budget: campaign.Budget{Executions: 600}},
		"1 mutants":        {Name: "mutants", Mutants: &campaign.Mutants{Only: []string{"locked-is-full"}}},
		"survives-restart": {Name: "table", Sweep: &campaign.Sweep{Options: []campaign.Axis{{Name: "durable", Values: []string{"true", "false"}}}, Sizes: []campaign.Size{{Clients: 1, Slots: 1}}, Faults: []campaign.Faults{{Restarts: 1}}}},
	}
	if !testing.Short() {
		plans["through the gate"] = &campaign.Plan{Name: "external", Target: campaign.Target{Exec: adapter("semaphore")}, Sample: &campaign.Sample{}, Budget: campaign.Budget{Executions: 2}}
	}
	for says, p := range plans {
		path := campaignFile(t, p)
		server := campaign.Server{Dir: filepath.Join(t.TempDir(), "queue")}
		plan, err := campaign.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		f := campaignRunFlags{plan: plan, outputFlags: outputFlags{html: filepath.Join(t.TempDir(), "page.html")}}
		var last, running []byte
		_, err = campaigns.Run(t.Context(), campaign.RunConfig{Plan: plan, Server: server, Workers: 1, Page: func(out *campaign.Outcome, s *campaign.Status) []byte {
			last = f.page(out, s)
			if s != nil {
				running = last
			}
			return last
		}})
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(running, []byte("so far, on ")) || !bytes.Contains(running, []byte(`http-equiv="refresh"`)) {
			t.Errorf("%s: while it runs, the page is\n%s", p.Name, running)
		}
		if written, err := os.ReadFile(f.html); err != nil || !bytes.Equal(written, running) {
			t.Errorf("%s: the file is another page than the one that was made last, %v", p.Name, err)
		}
		if bytes.Contains(last, []byte("so far")) || bytes.Contains(last, []byte("refresh")) || !bytes.Contains(last, []byte(says)) {
			t.Errorf("%s: when it is over, the page is\n%s\nexpected %q", p.Name, last, says)
		}
		var out, errs bytes.Buffer
		seen := filepath.Join(t.TempDir(), "seen.html")
		if code := run([]string{"campaign", "status", "--dir", server.Dir, "--html", seen, "--watch"}, &out, &errs); code != exitHolds || !strings.Contains(out.String(), "over: ") {
			t.Fatalf("%s: status: exit code %d\n%s%s", p.Name, code, out.String(), errs.String())
		}
		if page, err := os.ReadFile(seen); err != nil || !bytes.Equal(page, last) {
			t.Errorf("%s: who watches has another page, %v", p.Name, err)
		}
	}
}

// TestStatusIsSafe checks a stored status with malicious names. It must be shown in one line without control
// characters.
func TestStatusIsSafe(t *testing.T) {
	const evil = "\x1b]0;title\a\u202e\nnight"
	s := &campaign.Status{Name: evil, Over: evil, Progress: campaign.Progress{Unit: evil, Violated: []string{evil}}}
	data, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "status.json"), data, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"campaign", "status", "--dir", dir}, {"campaign", "status", "--dir", dir, "--json"}} {
		var out, errs bytes.Buffer
		if code := run(args, &out, &errs); code != exitHolds {
			t.Fatalf("exit code %d\n%s", code, errs.String())
		}
		if said := strings.TrimSuffix(out.String(), "\n"); strings.ContainsAny(said, "\x1b\a\u202e\n") {
			t.Errorf("%v: %q", args, said)
		}
	}
}

// TestExampleCampaigns checks that the example campaigns in this repository are valid.
func TestExampleCampaigns(t *testing.T) {
	files, err := filepath.Glob("../../../testdata/campaigns/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, path := range files {
		if _, err := campaign.Load(path); err != nil {
			t.Error(err)
		}
	}
}
