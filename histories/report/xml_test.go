package report

import "testing"

// TestXMLCharacters: legal removes the characters that XML does not allow, and keeps all others.
func TestXMLCharacters(t *testing.T) {
	const some = "\t\n\u0020\ud7ff\ue000\ufffc\U00010000\U0010ffff"
	if got := legal(some); got != some {
		t.Errorf("%q became %q", some, got)
	}
	if got := legal("\x00\x08\x0b\r\x1f\ufffd\ufffe\uffff"); got != "" {
		t.Errorf("%q is left of what XML does not have", got)
	}
}
