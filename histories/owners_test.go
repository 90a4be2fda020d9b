package histories

import (
	"fmt"
	"strings"
	"testing"
)

// processesOf lists the process number of each event of a history, after reading.
func processesOf(t *testing.T, text string) (processes string, notes Notes) {
	t.Helper()
	h, notes, err := ReadHistory(strings.NewReader(text), "owners.edn", Unnamed)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range h.Events {
		processes += fmt.Sprint(e.Process, " ")
	}
	return strings.TrimSpace(processes), notes
}

// TestOwners: processes whose answers name the same client get one number. So do the processes in between on the same
// thread whose answers name no client.
func TestOwners(t *testing.T) {
	call := func(process int, typ, value string) string {
		return fmt.Sprintf("{:process %d :type :invoke :f :acquire} {:process %d :type :%s :f :acquire :value %s}\n", process, process, typ, value)
	}
	const a, b = `{:client "a"}`, `{:client "b"}`
	overlap := `{:process 1 :type :invoke :f :acquire} {:process 2 :type :invoke :f :acquire}` +
		`{:process 1 :type :ok :f :acquire :value {:client "a"}} {:process 2 :type :ok :f :acquire :value {:client "a"}}`
	for _, test := range []struct {
		name, text, want string
		renamed          int
	}{
		{"no names", call(1, "info", "nil") + call(6, "ok", "nil"), "1 1 6 6", 0},
		{"one client goes on", call(1, "ok", a) + call(1, "info", "nil") + call(6, "ok", a), "1 1 1 1 1 1", 1},
		{"another", call(1, "ok", a) + call(1, "info", "nil") + call(6, "ok", b), "1 1 1 1 6 6", 0},
		{"one that is not named goes on", call(1, "ok", a) + call(1, "info", "nil") + call(6, "info", "nil") + call(11, "ok", a), "1 1 1 1 1 1 1 1", 2},
		{"one of two", call(1, "ok", a) + call(2, "ok", b) + call(1, "info", "nil") + call(2, "info", "nil") + call(7, "ok", b) + call(6, "info", "nil"),
			"1 1 2 2 1 1 2 2 2 2 1 1", 2},
		{"fails before it is named", call(1, "ok", a) + call(1, "info", "nil") + call(6, "fail", "nil") + call(6, "ok", a), "1 1 1 1 1 1 1 1", 1},
		{"two at the same time", overlap, "1 2 1 2", 0},
	} {
		if got, notes := processesOf(t, test.text); got != test.want || notes.Renamed != test.renamed {
			t.Errorf("%s: %s, expected %s; %d have another number, expected %d", test.name, got, test.want, notes.Renamed, test.renamed)
		}
	}
	refused := strings.Repeat(call(3, "fail", "nil"), mostWaiting)
	if got, _ := processesOf(t, refused+call(1, "ok", a)); strings.Count(got, "3") != 2*mostWaiting {
		t.Error("a process that is never named gets another number")
	}
}
