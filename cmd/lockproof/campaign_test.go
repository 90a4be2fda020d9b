//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/cmd/lockproof/campaign"
)

// campaignFile writes a campaign's file.
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

// TestCampaignOfACommand: a campaign over somebody else's lock at the gate finds its bug, minimises it once, and writes a
// counterexample that replays.
func TestCampaignOfACommand(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: -short leaves out what takes programs")
	}
	path := campaignFile(t, &campaign.Plan{
		Name: "buggy", Target: campaign.Target{Exec: adapter("locked-is-success")}, Budget: campaign.Budget{Executions: 40}, Shard: 10,
		Sample: &campaign.Sample{Properties: []string{"mutual-exclusion"}}, Stop: campaign.Stop{Violation: []string{"any"}},
	})
	dir := t.TempDir()
	var out, errs bytes.Buffer
	code := run([]string{"campaign", "run", path, "--dir", filepath.Join(dir, "queue"), "--out", filepath.Join(dir, "ce")}, &out, &errs)
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

// TestExampleCampaigns: the campaigns that come with lockproof are well-formed, and the sweep is as large as it is said
// to be.
func TestExampleCampaigns(t *testing.T) {
	files, err := filepath.Glob("../../testdata/campaigns/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, path := range files {
		if _, err := campaign.Load(path); err != nil {
			t.Error(err)
		}
	}
}
