package subprocess

import (
	"bytes"
	"slices"
	"testing"

	"github.com/lockproof/lockproof/adapters/foreign"
	"github.com/lockproof/lockproof/model/lock"
)

// FuzzRead: any output of a program is split into lines of limited length, and each line is decoded as an answer or
// gives an error.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"result":{"held":true,"slot":1}}` + "\n"))
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"result":{"slots":3}}` + "\r\n" + `{"jsonrpc":"2.0","id":2,"error":{"code":-32000,"message":"no"}}`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700}}` + "\n\n"))
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"result":{"name":"x","locks":["mutex"],"operations":["acquire"]}}` + "\n"))
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"result":{"name":"x","locks":["mutex"],"operations":["acquire","extend"],"leases":true}}` + "\n"))
	f.Add([]byte(`{"jsonrpc":"2.0","method":"lost","params":{"name":"jobs"}}` + "\n"))
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

// interpret decodes a line as the answer to each method.
func interpret(t *testing.T, line []byte) {
	r, err := decode(line)
	if err != nil || r.Error != nil {
		return
	}
	if r.Method != "" {
		l := losses{announced: true}
		if err := l.tell(r, false); (err == nil) != (len(l.told) == 1 && l.told[0].Name != "") {
			t.Errorf("%s is told as %+v: %v", line, l.told, err)
		}
		return
	}
	if about, err := aboutOf(r.Result); err == nil && (about.Name == "" || len(about.Locks) == 0 || len(about.Operations) == 0) {
		t.Errorf("%s is %+v", line, about)
	} else if err == nil && slices.Contains(about.Operations, lock.Refresh) && !about.Leases {
		t.Errorf("%s extends leases that there are none of", line)
	}
	for _, op := range append(slices.Clone(lock.Semaphore.Operations()), lock.Refresh) {
		got, err := resultOf(op, foreign.Params{Name: "jobs", Slot: 1}, r.Result)
		if err == nil && (got.Outcome != lock.Done || op == lock.Acquire && got.Held != (got.Slot > 0)) {
			t.Errorf("%s of %s is %+v", op, line, got)
		}
	}
}
