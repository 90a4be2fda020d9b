package explorer_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/engine/recorded"
	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/model/lock"
)

// clipped is what stands beyond the page's right edge. Parts that have to scroll in a frame of their own are left
// out: diagrams, whose steps stand below in words, and tables with a column for each property.
const clipped = `(() => {
  const width = document.documentElement.clientWidth, bad = [];
  if (document.documentElement.scrollWidth > width) bad.push("the page is " + document.documentElement.scrollWidth + " wide");
  for (const e of document.querySelectorAll("body *")) {
    if (e.closest("svg, pre, .wide, .tall, .hid, script, style") || !e.checkVisibility()) continue;
    const box = e.getBoundingClientRect();
    if (box.width > 0 && (box.right > width + 1 || box.left < -1)) bad.push(e.tagName + " " + e.className + ": " + e.textContent.slice(0, 60));
  }
  return bad.join("\n");
})()`

// unread are diagrams that do not fit a phone and whose steps cannot be read in words below; a desk has room to scroll.
const unread = `[...document.querySelectorAll("figure.diagram")].filter((f) => {
  const steps = f.parentElement.querySelector("details.steps li");
  return f.scrollWidth > f.clientWidth && !(steps && steps.checkVisibility({contentVisibilityAuto: true}));
}).map((f) => f.closest("section").id).join("\n")`

// cut is what is lost on paper, where nothing scrolls.
const cut = `[...document.querySelectorAll("pre, figure, table, .wide, .tall")].filter((e) => e.checkVisibility() && e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0)
  .map((e) => e.tagName + " " + e.className + " " + e.scrollWidth + " > " + e.clientWidth + ": " + e.textContent.slice(0, 60)).join("\n")`

// TestFits: on each kind of page nothing is cut off: at the width of a phone and of desks, and on paper.
func TestFits(t *testing.T) {
	w := walker{t, browser(t)}
	files, err := filepath.Glob("../../testdata/histories/*.html")
	if err != nil || len(files) < 4 {
		t.Fatal("no pages", err)
	}
	for i, file := range files {
		if files[i], err = filepath.Abs(file); err != nil {
			t.Fatal(err)
		}
	}
	files = append(files, checked(t))
	for _, file := range files {
		w.do(file, chromedp.Navigate("file://"+file))
		for _, width := range []int64{390, 1280, 1920} {
			w.do("a width", chromedp.EmulateViewport(width, 900))
			bad := w.says(clipped)
			if width < 640 {
				bad += w.says(unread)
			}
			if bad != "" {
				t.Errorf("%s at %d px:\n%s", filepath.Base(file), width, bad)
			}
		}
		w.media("print")
		w.do("paper", chromedp.EmulateViewport(718, 1000)) // A4 without margins
		if bad := w.says(clipped) + w.says(cut); bad != "" {
			t.Errorf("%s on paper:\n%s", filepath.Base(file), bad)
		}
		w.media("")
	}
}

// media has the page shown as on paper, or, where it is "", as on a screen.
func (w walker) media(kind string) {
	w.t.Helper()
	if _, err := chromedp.Call(w.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: kind}); err != nil {
		w.t.Fatal(err)
	}
}

// checked is the page of a history that was recorded.
func checked(t *testing.T) string {
	t.Helper()
	h, _, err := histories.LoadHistory("../../testdata/histories/jepsen-mutex-two-holders.edn", histories.Header{Kind: lock.Mutex, Locks: []histories.Named{{Name: "lock", Slots: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := recorded.Check(h, recorded.CheckOptions{Source: "history.edn"})
	if err != nil {
		t.Fatal(err)
	}
	var html bytes.Buffer
	if err := (&engine.Result{Report: r, History: h}).WritePage(&html); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "check.html")
	if err := os.WriteFile(path, html.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}
