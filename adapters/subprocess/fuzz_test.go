package subprocess

import (
	"bytes"
	"testing"

	"github.com/lockproof/lockproof/adapters/foreign"
	"github.com/lockproof/lockproof/model/lock"
)

// FuzzRead: whatever a program prints is read line by line, none longer than it may be, and becomes an
// answer or an error.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"result":{"held":true,"slot":1}}` + "\n"))
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"result":{"slots":3}}` + "\r\n" + `{"jsonrpc":"2.0","id":2,"error":{"code":-32000,"message":"no"}}`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700}}` + "\n\n"))
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"result":{"name":"x","locks":["mutex"],"operations":["acquire"]}}` + "\n"))
	f.Add(bytes.Repeat([]byte("x"), MaxLine+2))
	f.Fuzz(func(t *testing.T, printed []byte) {
		lines := newLineReader(bytes.NewReader(printed))
		for read := 0; ; {
			line, err := lines.next()
			if err != nil {
				break
			}
			if read += len(line) + 1; len(line) > MaxLine || read > len(printed) {
				t.Fatalf("a line of %d bytes out of %d", len(line), len(printed))
			}
			interpret(t, line)
		}
	})
}

// interpret takes a line for the answer to every call in turn.
func interpret(t *testing.T, line []byte) {
	r, err := decode(line)
	if err != nil || r.Error != nil {
		return
	}
	if about, err := aboutOf(r.Result); err == nil && (about.Name == "" || len(about.Locks) == 0 || len(about.Operations) == 0) {
		t.Errorf("%s is %+v", line, about)
	}
	for _, op := range lock.Semaphore.Operations() {
		got, err := resultOf(op, foreign.Params{Name: "jobs", Slot: 1}, r.Result)
		if err == nil && (got.Outcome != lock.Done || op == lock.Acquire && got.Held != (got.Slot > 0)) {
			t.Errorf("%s of %s is %+v", op, line, got)
		}
	}
}
