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

// clipped is a script that lists what extends beyond the page's left or right edge. It ignores elements that scroll
// in a frame of their own: diagrams, and tables with a column for each property.
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

// unread is a script that lists diagrams wider than a phone whose steps are not also shown as text. It is not used at
// the width of a desktop.
const unread = `[...document.querySelectorAll("figure.diagram")].filter((f) => {
  const steps = f.parentElement.querySelector("details.steps li");
  return f.scrollWidth > f.clientWidth && !(steps && steps.checkVisibility({contentVisibilityAuto: true}));
}).map((f) => f.closest("section").id).join("\n")`

// cut is a script that lists what is cut off on paper, where nothing scrolls.
const cut = `[...document.querySelectorAll("pre, figure, table, .wide, .tall")].filter((e) => e.checkVisibility() && e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0)
  .map((e) => e.tagName + " " + e.className + " " + e.scrollWidth + " > " + e.clientWidth + ": " + e.textContent.slice(0, 60)).join("\n")`

// TestFits: no kind of page is cut off at the width of a phone, of desktops, or of paper.
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
		w.do("paper", chromedp.EmulateViewport(718, 1000)) // size of A4 paper without margins
		if bad := w.says(clipped) + w.says(cut); bad != "" {
			t.Errorf("%s on paper:\n%s", filepath.Base(file), bad)
		}
		w.media("")
	}
}

// media shows the page as on the given medium, such as "print"; "" is the screen.
func (w walker) media(kind string) {
	w.t.Helper()
	if _, err := chromedp.Call(w.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: kind}); err != nil {
		w.t.Fatal(err)
	}
}

// checked writes the page of a check of a recorded history, and returns its path.
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
