package lockproof_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/lockproof/lockproof"
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/lock"
)

// TestExplorer: the explorer page of a custom protocol begins with the given slots, and its clients behave as the
// protocol says. If the protocol panics, the page gets an error, and the next request works again.
func TestExplorer(t *testing.T) {
	breaks := false
	mine := lockproof.Protocol("hasty", lockproof.Semaphore, func(reference *amqplock.Protocol) amqplock.Implementation {
		return faulty{Protocol: reference, next: func(m *amqplock.Machine) amqp.Command {
			if breaks && m.Op == lock.Acquire {
				panic("no such thing")
			}
			return hasty{reference}.Next(m)
		}}
	})
	handler, err := lockproof.Explorer(mine, lockproof.Bounds{Options: lockproof.Options{Own: []lockproof.Own{
		lockproof.Always("never-two", func(v lockproof.View) error {
			if len(v.Locks[0].Slots) == 2 {
				return errors.New("there are two")
			}
			return nil
		}),
		lockproof.Sometimes("some-are", func(v lockproof.View) bool { return len(v.Locks[0].Slots) > 0 }),
	}}, Start: []int{1, 3}})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	defer server.Close()
	page := read(t, server.URL, nil)
	start := regexp.MustCompile(`id="lp-starts">(.*)</script>`).FindStringSubmatch(page)
	var starts []struct{ File string }
	if start == nil || json.Unmarshal([]byte(start[1]), &starts) != nil {
		t.Fatalf("the page has no execution to begin with: %d bytes", len(page))
	}
	ask := func(actions ...any) (r struct {
		Error, Target string
		Steps         []struct{ Resources []struct{ Name string } }
		Enabled       []struct{ Action any }
		Properties    []struct {
			Name string
			Step int
		}
	}) {
		question, _ := json.Marshal(map[string]any{"file": starts[0].File, "at": -1, "edited": len(actions) > 0, "actions": actions})
		if err := json.Unmarshal([]byte(read(t, server.URL+"/ask", question)), &r); err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := ask()
	if r.Error != "" || r.Target != "hasty" || len(r.Steps) != 1 || len(r.Steps[0].Resources) != 2 || len(r.Enabled) == 0 {
		t.Errorf("%+v", r)
	}
	first := r.Enabled[0].Action
	properties := ask(first).Properties
	if all := fmt.Sprint(properties[len(properties)-2:]); all != "[{never-two 1} {some-are: seen 0}]" {
		t.Errorf("its own properties: %s", all)
	}
	breaks = true
	if r := ask(first, first); !strings.Contains(r.Error, "no such thing") {
		t.Errorf("a protocol that panics: %+v", r)
	}
	breaks = false
	if r := ask(first, first); r.Error != "" {
		t.Errorf("after it: %+v", r)
	}
	if _, err := lockproof.Explorer(lockproof.Exec("true"), lockproof.Bounds{}); !errors.Is(err, lockproof.ErrInvalid) {
		t.Errorf("a program: %v", err)
	}
	if _, err := lockproof.Explorer(lockproof.Reference(lockproof.Mutex), lockproof.Bounds{Admins: 1}); !errors.Is(err, lockproof.ErrInvalid) {
		t.Errorf("a mutex with an administrator: %v", err)
	}
}

// read returns the response to a GET of url or, unless post is nil, to a POST of it.
func read(t *testing.T, url string, post []byte) string {
	t.Helper()
	get := func() (*http.Response, error) { return http.Get(url) }
	if post != nil {
		get = func() (*http.Response, error) {
			return http.Post(url, "application/json", strings.NewReader(string(post)))
		}
	}
	r, err := get()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	data, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v: %s", url, r.Status, err, data)
	}
	return string(data)
}
