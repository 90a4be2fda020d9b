package explorer_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/engine/explore"
	"github.com/lockproof/lockproof/adapters/engine/served"
	"github.com/lockproof/lockproof/adapters/explorer"
	"github.com/lockproof/lockproof/cmd/lockproof/explorer/program"
	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
)

// browser starts a headless browser. It skips the test if none is installed.
func browser(t *testing.T) context.Context {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		const missing = "no Chromium is installed (apt-get install chromium), in which the explorer is tried"
		if os.Getenv("LOCKPROOF_REQUIRE_BROWSER") != "" {
			t.Fatal(missing)
		}
		t.Skip(missing)
	}
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true), chromedp.UserDataDir(t.TempDir()), chromedp.WindowSize(1280, 2400), chromedp.WSURLReadTimeout(2*time.Minute))
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, 5*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// counterexamples returns the contents of the counterexamples in testdata, by path.
func counterexamples(t *testing.T) map[string]string {
	t.Helper()
	all := make(map[string]string)
	for _, pattern := range []string{"*.json", "atlas/*.json"} {
		files, err := filepath.Glob("../../testdata/counterexamples/" + pattern)
		if err != nil || len(files) == 0 {
			t.Fatal("no counterexamples", err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			all[file] = string(data)
		}
	}
	return all
}

// page writes the HTML page of a counterexample's replay, with the explorer in it, to a file. It returns the page's
// file URL.
func page(t *testing.T, file string) string {
	t.Helper()
	ce, err := histories.LoadCounterexample(file)
	if err != nil {
		t.Fatal(err)
	}
	replayed, err := engine.Replay(ce)
	if err != nil {
		t.Fatal(err)
	}
	p := program.Embedded()
	if p == nil {
		if p, err = program.Build(t.Context(), "../../cmd/lockproof/explorer"); err != nil {
			t.Fatal(err)
		}
	}
	pg := replayed.Page()
	target, err := engine.TargetNamed("mutex-shared")
	if err != nil {
		t.Fatal(err)
	}
	graph, start, err := (&explore.Exploration{Target: target, Workload: explore.Workload{Clients: 2, Rounds: 1}}).Graph()
	if err != nil {
		t.Fatal(err)
	}
	pg.Explorer = &report.Explorer{Wasm: p.Wasm, Runtime: p.Runtime, Start: start, Graph: graph}
	var html bytes.Buffer
	if err := report.WritePage(&html, pg); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(path, html.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return "file://" + path
}

const known = "../../testdata/counterexamples/locked-is-success.mutual-exclusion.json"

// walker drives a page in the browser for a test.
type walker struct {
	t   *testing.T
	ctx context.Context
}

func (w walker) do(what string, steps ...chromedp.Action[chromedp.Void]) {
	w.t.Helper()
	if err := chromedp.Do(w.ctx, steps...); err != nil {
		w.t.Fatalf("%s: %v", what, err)
	}
}

func (w walker) click(selector string) {
	w.t.Helper()
	w.do("a click on "+selector, chromedp.Click(chromedp.CSS(selector)))
}

func (w walker) says(script string) string {
	w.t.Helper()
	text, err := chromedp.Run(w.ctx, chromedp.Evaluate[string](script))
	if err != nil {
		w.t.Fatalf("%s: %v", script, err)
	}
	return text
}

// expect fails the test if the element with this id does not show the text that is wanted.
func (w walker) expect(id, want string) {
	w.t.Helper()
	if got := w.text(id); !strings.Contains(got, want) {
		w.t.Errorf("%s says %q, without %q", id, got, want)
	}
}

func (w walker) text(id string) string {
	w.t.Helper()
	return w.says("document.getElementById(" + quoted(id) + ").textContent")
}

func quoted(text string) string {
	data, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// TestServed: a page that a program serves sends its requests to that program, and reports when the program is gone.
func TestServed(t *testing.T) {
	target, err := engine.TargetNamed("semaphore")
	if err != nil {
		t.Fatal(err)
	}
	b := served.Begin{Target: target, Clients: 2, Slots: 1<<1 | 1<<3}
	p, err := b.Page()
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(served.Handler(p, explorer.World{Named: lock.TargetNamed}.Explore))
	defer server.Close()
	w := walker{t, browser(t)}
	w.do("opening", chromedp.Navigate(server.URL), chromedp.WaitVisible(chromedp.ID("lp-app")))
	w.expect("lp-where", "step 0 of 0")
	w.expect("lp-queues", "jobs-3-A")
	w.click("#lp-finish")
	w.expect("lp-verdict", "nothing is violated")
	server.Close()
	w.click("#lp-first")
	w.expect("lp-status", "does not answer any more")
}

// TestBrowser steps through executions in a browser, offline, from a file. It uses keys and clicks, takes other
// choices, adds a fault, changes an option, opens the state space, and saves the execution. For all counterexamples
// the browser's response equals the one computed in this process, byte by byte.
func TestBrowser(t *testing.T) {
	w := walker{t, browser(t)}
	address := page(t, known)
	open := func(at string) {
		t.Helper()
		w.do("opening", chromedp.Navigate("about:blank"), chromedp.Navigate(at), chromedp.WaitVisible(chromedp.ID("lp-app")))
	}
	open(address)
	w.expect("lp-where", "step 8 of 8")
	w.expect("lp-verdict", "mutual-exclusion c1 was refused at step 6")

	w.do("keys", chromedp.KeyEvent(kb.Home), chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent(kb.ArrowLeft))
	w.expect("lp-where", "step 2 of 8")
	w.click("#lp-steps li:nth-child(6) button")
	w.expect("lp-where", "step 5 of 8")
	w.expect("lp-queues", "jobs-1-Bexclusive0c2")
	w.expect("lp-clients", "c1acquire: claiming")

	w.click("#lp-next button:not(.taken)") // client c2 takes the next step, before c1
	w.expect("lp-where", "step 6 of 6")
	w.expect("lp-verdict", "nothing is violated")
	w.click("#lp-wrong summary")
	w.click(`#lp-faults button[data-action*='"drop"'][data-action*='"client":2']`)
	w.expect("lp-where", "step 7 of 7")
	w.expect("lp-clients", "gone, and it does not know")
	w.click("#lp-finish")

	confirm(t, w.saved(), w.text("lp-verdict"))
	at, verdict := w.says("location.hash"), w.text("lp-verdict")
	open(address + at)
	if again := w.says("location.hash"); again != at || w.text("lp-verdict") != verdict {
		t.Errorf("the address was %s and is %s, the verdict %q and %q", at, again, verdict, w.text("lp-verdict"))
	}
	confirm(t, w.saved(), verdict)

	w.click("#lp-reset")
	w.expect("lp-where", "step 8 of 8")
	w.says(`(() => { const i = document.querySelector("#lp-options [name=retries]"); i.value = "0"; i.onchange(); return ""; })()`)
	if ce, err := histories.DecodeCounterexample("saved", []byte(w.saved())); err != nil || ce.Scenario.Options.Value("retries") != "0" {
		t.Errorf("the option is not in what is saved: %v", err)
	}

	w.click("#lp-map circle.broken") // in the diagram of the state space
	w.expect("lp-verdict", "✗")
	w.expect("lp-clients", "holds the lock")

	for file, data := range counterexamples(t) {
		request := `{"file":` + quoted(data) + `,"at":-1}`
		theirs := w.says("lockproofExplore(" + quoted(request) + ")")
		if ours := string(explorer.World{Named: lock.TargetNamed}.Explore([]byte(request))); ours != theirs {
			t.Errorf("%s: the browser says\n%.300s\nand not\n%.300s", file, theirs, ours)
		}
	}
}

// saved returns the file to which the page's save link points.
func (w walker) saved() string {
	w.t.Helper()
	text, err := chromedp.Run(w.ctx, chromedp.Evaluate[string](`fetch(document.getElementById("lp-save").href).then((r) => r.text())`, chromedp.EvalAwaitPromise))
	if err != nil {
		w.t.Fatal(err)
	}
	return text
}

// confirm replays the execution that the page saved. The replay must find a violation if and only if the page showed
// one.
func confirm(t *testing.T, saved, verdict string) {
	t.Helper()
	ce, err := histories.DecodeCounterexample("saved", []byte(saved))
	if err != nil {
		t.Fatal(err)
	}
	r, err := engine.Replay(ce)
	if err != nil {
		t.Fatal(err)
	}
	if violated := strings.Contains(verdict, "✗"); violated != (r.Violation != nil) {
		t.Errorf("the page says %q, and the command line finds %v", verdict, r.Violation)
	}
	if len(ce.Scenario.Schedule.Actions) < 7 || ce.Scenario.Schedule.Strategy != scenario.Replay {
		t.Errorf("%d actions were saved", len(ce.Scenario.Schedule.Actions))
	}
}

// TestEmbedded: if a compiled explorer is embedded, it is the one that the present sources compile to.
func TestEmbedded(t *testing.T) {
	embedded := program.Embedded()
	if embedded == nil {
		t.Skip("no program is embedded: releases have one (make explorer)")
	}
	now, err := program.Build(t.Context(), "../../cmd/lockproof/explorer")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(embedded.Wasm, now.Wasm) || !bytes.Equal(embedded.Runtime, now.Runtime) {
		t.Error("the program that is embedded is not that of the sources: make explorer")
	}
}
