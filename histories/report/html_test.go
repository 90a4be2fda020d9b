package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/histories/historiestest"

	"github.com/lockproof/lockproof/model/scenario"
)

// samplePage has a page of porcupine's, or what passes for one.
func samplePage() *Page {
	trace := historiestest.LockedTaken()
	trace.Scenario.Locks[0].Name = `<script>alert("jobs")</script>`
	return &Page{Report: sampleReport(), Executions: []Execution{
		{Trace: trace, Command: "lockproof replay ce.json", Porcupine: []byte("<script>\nconst data = {}\n</script>")},
		{Trace: historiestest.Faults()},
	}}
}

func TestWritePage(t *testing.T) {
	var b strings.Builder
	if err := WritePage(&b, samplePage()); err != nil {
		t.Fatal(err)
	}
	historiestest.Golden(t, "page.html", b.String())
	for _, foreign := range []string{"http://", "https://", "<script", "url("} {
		if rest := strings.ReplaceAll(b.String(), "http://www.w3.org/2000/svg", ""); strings.Contains(rest, foreign) {
			t.Errorf("the page has %q", foreign)
		}
	}
	var only strings.Builder
	if err := WritePage(&only, &Page{Executions: []Execution{{Trace: historiestest.Crowd()}, {Trace: &scenario.Trace{}}}}); err != nil {
		t.Error(err)
	}
}

// TestEmbeddable has porcupine list the same in two orders.
func TestEmbeddable(t *testing.T) {
	const (
		one = `<script> const data = {"Partitions":[{"History":[{"ClientId":1,"Description":"</script>"}],"PartialLinearizations":[[{"Index":1,"StateDescription":"b"}],[{"Index":0,"StateDescription":"a"}]],"Largest":{"0":1,"1":0}}],"Annotations":[]}` + "\n</script>"
		two = `<script> const data = {"Annotations":[],"Partitions":[{"History":[{"ClientId":1,"Description":"</script>"}],"PartialLinearizations":[[{"Index":0,"StateDescription":"a"}],[{"Index":1,"StateDescription":"b"}]],"Largest":{"0":0,"1":1}}]}` + "\n</script>"
	)
	first, second := embeddable([]byte(one)), embeddable([]byte(two))
	if !bytes.Equal(first, second) {
		t.Errorf("the pages differ:\n%s\n%s", first, second)
	}
	if !bytes.Contains(first, []byte(`"Largest":{"0":0,"1":1}`)) {
		t.Errorf("which linearization an operation is part of first is not as they are sorted:\n%s", first)
	}
	if n := bytes.Count(first, []byte("</script>")); n != 1 || !bytes.Contains(first, []byte(`"ClientId":1`)) {
		t.Errorf("the script ends %d times in\n%s", n, first)
	}
	for _, other := range []string{"", "const data = ", "const data = []\n", "const data = {\"More\":1}\n", "no data"} {
		if got := embeddable([]byte(other)); string(got) != other {
			t.Errorf("%q became %q", other, got)
		}
	}
}
