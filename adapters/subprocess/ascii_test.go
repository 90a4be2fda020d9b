package subprocess

import (
	"encoding/json"
	"testing"
)

// A call consists of ASCII characters, whatever the lock's name is. Decoding it gives the original name.
func TestASCII(t *testing.T) {
	for _, name := range []string{"jobs", "caf\u00e9", "cafe\u0301", "\U0001f512", "a\"\\b\u2028"} {
		quoted, err := json.Marshal(name)
		if err != nil {
			t.Fatal(err)
		}
		text := ascii(quoted)
		for _, b := range text {
			if b > 127 {
				t.Errorf("%q is written as %s", name, text)
				break
			}
		}
		var back string
		if err := json.Unmarshal(text, &back); err != nil || back != name {
			t.Errorf("%q comes back as %q, %v", name, back, err)
		}
	}
}
