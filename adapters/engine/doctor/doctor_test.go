package doctor

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/lockproof/lockproof/adapters/amqp/cluster"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/internal/rabbitmqtest"
)

// managedNode starts a RabbitMQ node with a management interface for this test.
func managedNode(t *testing.T) (url, management string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	l.Close()
	b := rabbitmqtest.Configured(t, fmt.Sprintf(`[{rabbitmq_management, [{listener, [{port, %d}, {ip, "127.0.0.1"}]}]}].`, port), "rabbitmq_management")
	return b.URL, fmt.Sprintf("http://127.0.0.1:%d", port)
}

// TestOneNode checks the facts about a single node that AMQP and the management interface report. No warning about
// clusters must appear.
func TestOneNode(t *testing.T) {
	t.Parallel()
	url, management := managedNode(t)
	d, facts := examined(t, Config{URLs: []string{url}, Management: management})
	for range 100 { // a node that has just started does not report everything yet
		if strings.Contains(facts, "net_ticktime") {
			break
		}
		time.Sleep(300 * time.Millisecond)
		d, facts = examined(t, Config{URLs: []string{url}, Management: management})
	}
	for _, want := range []string{"RabbitMQ ", "heartbeat: 1m0s", "nodes: 1", "net_ticktime: 60 s: nodes notice within 45 to 75 s", "store: Mnesia"} {
		if !strings.Contains(facts, want) {
			t.Errorf("no %q in\n%s", want, facts)
		}
	}
	if len(d.Worries) > 0 || len(d.Designs) > 0 || !strings.HasPrefix(d.Measured, "One node") || strings.Contains(facts, "guest:guest") {
		t.Errorf("%+v", d)
	}
	d, err := Examine(t.Context(), Config{URLs: []string{url}, Management: strings.Replace(management, "//", "//guest:wrong@", 1)})
	if err == nil || strings.Contains(err.Error(), "wrong@") || d == nil || !strings.Contains(said(d), "heartbeat: ") || !strings.Contains(said(d), "cluster: not told") {
		t.Errorf("a wrong password: %v, %+v", err, d)
	}
	if len(d.Touches) > 0 {
		t.Errorf("it changes nothing, and says %q", d.Touches)
	}
}

// TestConcerns checks which part of the measured table is shown: that of the stated mode, or the worst case of all
// modes if no mode is stated.
func TestConcerns(t *testing.T) {
	t.Parallel()
	url := rabbitmqtest.URL(t)
	for mode, want := range map[cluster.Mode]string{"": "∞ stuck", cluster.PauseMinority: "∞", cluster.Ignore: "∞ stuck"} {
		d, _ := examined(t, Config{URLs: []string{url}, Mode: mode})
		for _, design := range d.Designs {
			if design.Name == "classic-token" && design.Cells[0] != want {
				t.Errorf("%q: classic-token under a cut: %q, expected %q", mode, design.Cells[0], want)
			}
		}
		if len(d.Designs) < 9 || len(d.Faults) != 5 {
			t.Errorf("%q: %d designs, faults %q", mode, len(d.Designs), d.Faults)
		}
	}
}

// TestWorst: runs that were not possible show nothing, so they are no zero.
func TestWorst(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		want string
		said []string
	}{
		{"0", nil}, {"0", []string{"0, 0"}}, {"?", []string{"?, ?"}}, {"?", []string{"?", "?, ?"}}, {"0", []string{"?, ?", "0, ?"}},
		{"<0.1", []string{"0, <0.1", "?"}}, {"∞ lost stuck", []string{"0 stuck, 7.1", "∞ lost, ?"}}, {"0 stuck", []string{"0 stuck, ?"}},
	} {
		var cells []cluster.Cell
		for _, said := range c.said {
			cells = append(cells, cluster.Cell{Said: said})
		}
		if got := worst(cells, func(*cluster.Cell) bool { return true }); got != c.want {
			t.Errorf("%q: %q, expected %q", c.said, got, c.want)
		}
	}
}

func examined(t *testing.T, c Config) (d *report.Diagnosis, facts string) {
	t.Helper()
	d, err := Examine(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return d, said(d)
}

func said(d *report.Diagnosis) string {
	var b strings.Builder
	for _, f := range d.Facts {
		fmt.Fprintf(&b, "%s: %s\n", f.Name, f.Said)
	}
	return b.String()
}

// TestWorries checks the warnings about a cluster: a node in another partition, a node that does not run, a policy that
// mirrors queues, and Khepri.
func TestWorries(t *testing.T) {
	e := examination{managed: &managed{
		nodes:    []node{{Name: "rabbit@a", Running: true, Partitions: []string{"rabbit@b"}, NetTick: 60}, {Name: "rabbit@b"}},
		policies: []policy{{Name: "all", Vhost: "/", Pattern: ".*", Definition: map[string]any{"ha-mode": "all"}}, {Name: "other"}},
		khepri:   true, unseen: []string{"api/policies"},
	}}
	e.fromManagement()
	all := strings.Join(e.said.Worries, "\n")
	for _, want := range []string{"rabbit@a is in another part of the cluster than rabbit@b", "rabbit@b does not run", `policy "all" of / mirrors`, "Khepri"} {
		if !strings.Contains(all, want) {
			t.Errorf("no %q in\n%s", want, all)
		}
	}
	if len(e.said.Worries) != 4 || !strings.Contains(said(&e.said), "not seen: api/policies") {
		t.Errorf("%+v", e.said)
	}
}

// TestNotManagement checks that the password is sent only to the stated address, and that a server without a management
// interface gives an error that says so.
func TestNotManagement(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it was asked") }))
	defer elsewhere.Close()
	for what, answer := range map[string]http.HandlerFunc{
		"it sends us elsewhere":           func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, elsewhere.URL, http.StatusFound) },
		"is it RabbitMQ's management":     func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") },
		"it answers 404":                  http.NotFound,
		"a user with the tag monitoring":  func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) },
		"it answers more than 8 MiB; is ": func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, strings.Repeat(" ", mostAnswered+1)) },
	} {
		server := httptest.NewServer(answer)
		m, err := newManagement(server.URL, nil)
		if err == nil {
			_, err = m.ask(t.Context())
		}
		if err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%v: expected %q", err, what)
		}
		server.Close()
	}
	if _, err := newManagement("redis://u:secret@h", nil); err == nil || strings.Contains(err.Error(), "secret") {
		t.Error(err)
	}
}
