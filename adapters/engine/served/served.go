// Package served serves the explorer as a web page. The page asks the serving program for each execution. It therefore
// works with any lock that the program has, including locks of the user's own.
package served

import (
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
)

// Begin is the start of an execution: a lock, with its clients and administrators.
type Begin struct {
	Target          *lock.Target
	Options         [][2]string // by name and value; options that are not listed have their defaults
	Clients, Admins int
	Slots           scenario.SlotSet // the initial slots; empty if the lock has no administrators
}

// ErrMutex is the error for administrators of a mutex: a mutex has none.
var ErrMutex = errors.New("a mutex has no administration")

// Page returns the explorer page for an execution before its first step.
func (b *Begin) Page() (*report.Page, error) {
	s := scenario.Scenario{Server: b.Target.Backend, Locks: []scenario.Lock{scenario.Begin("jobs", b.Slots)}}
	if b.Target.Kind != lock.Semaphore {
		s.Locks[0] = scenario.Lock{Name: "jobs", Slots: 1}
	}
	var err error
	if s.Options, err = b.Target.Set(lock.BackendOf(b.Target).Defaults, b.Options); err != nil {
		return nil, err
	}
	if s.Clients, err = b.work(); err != nil {
		return nil, err
	}
	start, err := engine.NewExecution(b.Target, s)
	if err != nil {
		return nil, err
	}
	return &report.Page{Title: b.Target.Name, Text: b.Target.Doc, Explorer: &report.Explorer{Served: true, Start: start}}, nil
}

// work returns the operations of each client and administrator.
func (b *Begin) work() (all []scenario.Client, err error) {
	ops := func(all ...lock.Op) (c scenario.Client) {
		for _, op := range all {
			o := scenario.Operation{Op: op}
			if op == lock.Add || op == lock.Remove || op == lock.Create {
				o.Arg = 1
			}
			c.Ops = append(c.Ops, o)
		}
		return c
	}
	for range b.Clients {
		all = append(all, ops(lock.Acquire, lock.Verify, lock.Release, lock.Acquire, lock.Verify, lock.Release))
	}
	for range b.Admins {
		switch b.Target.Kind {
		case lock.Mutex:
			return nil, ErrMutex
		case lock.PersistentMutex:
			all = append(all, ops(lock.Destroy, lock.Create))
		default:
			all = append(all, ops(lock.Add, lock.Remove, lock.Count))
		}
	}
	return all, nil
}

// mostAsked is the maximum size of a request, in bytes.
const mostAsked = 8 << 20

// Handler serves a page, and answers its requests.
func Handler(page *report.Page, answer func(request []byte) []byte) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_ = report.WritePage(w, page) // an error means that the reader has gone
	})
	mux.HandleFunc("POST /ask", func(w http.ResponseWriter, r *http.Request) {
		request, err := io.ReadAll(http.MaxBytesReader(w, r.Body, mostAsked))
		if err != nil {
			http.Error(w, fmt.Sprintf("reading the request: %v", err), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(answer(request))
	})
	return mux
}
