package recognise

import (
	"fmt"
	"strings"
	"testing"
)

// TestPatterns: a pattern is read, printed and learnt from the names that it makes, for whatever lock and slot.
func TestPatterns(t *testing.T) {
	for text, made := range map[string]string{
		"{name}-A-{n}":           "jobs-A-2",
		"{name}-{n}-A":           "jobs-2-A",
		"lock/{name}/{n-1}":      "lock/jobs/1",
		"v2.{name}.{n:3}":        "v2.jobs.002",
		"{n}@{upper}":            "2@JOBS",
		"lock.{sha1}.{n}":        "",
		"{hex}.{n}":              "6a6f6273.2",
		"{HEX}.{n}":              "6A6F6273.2",
		"l.{MD5:8}.{n}":          "l.27A06A9E.2",
		"{sha1base64}.{n}":       "",
		"{md5base64url:8}/{n}":   "",
		"{sha1base32}.{n}":       "nftjeiiax4aggvvpfoijrzv2hmobsarg.2",
		"l.{md5BASE32:12}.{n}":   "l.E6QGVHR5LZ7W.2",
		"a/{underscored}/{n}":    "a/jobs/2",
		"a/{dashed}/{n}":         "a/jobs/2",
		"{md5:8}:{n}":            "",
		"s.{crc32}.{n}":          "",
		"{base64}.{n}.holder":    "am9icw.2.holder",
		"{base64padded}.{n}":     "am9icw==.2",
		"{n}-{base32}":           "2-njxwe4y",
		"t.{BASE32}.{n}":         "t.NJXWE4Y.2",
		"{base32padded}.{n}":     "njxwe4y=.2",
		"{BASE32padded}.{n}":     "NJXWE4Y=.2",
		"a/{lowerdashed}/{n}":    "a/jobs/2",
		"{lowerunderscored}.{n}": "jobs.2",
		"1.{sha512:32}.{n}.end":  "",
		"lock-{uuid5url}/{n}":    "lock-df6db023-4dad-5dd8-a55f-d1736b15602f/2",
		"{uuid3dnshex}.{n}":      "ec30e504093f38d3adc0fba209f773fc.2",
		"{blake2b128}.{n}":       "65177a560cada1f767891398e66c46de.2",
		"{blake2s:12}.{n}":       "7586853d1f12.2",
		"{{{name}}}:slot:{n}":    "{jobs}:slot:2",
		"{length}:{name},{n}":    "4:jobs,2",
		"{n}/{name}+{length:3}":  "2/jobs+004",
		"a{{{n}}}{{{{.{name}.}}": "a{2}{{.jobs.}",
	} {
		p, err := ParsePattern(text)
		if err != nil || p.String() != text {
			t.Fatalf("%s is read as %q: %v", text, p, err)
		}
		if got := p.Queue("jobs", 2); made != "" && got != made {
			t.Errorf("%s makes %s, expected %s", text, got, made)
		}
		var examples []example
		for _, lock := range []string{"r1.rehearsal", "Other_lock-22"} {
			for slot := 1; slot <= 2; slot++ {
				examples = append(examples, example{p.Queue(lock, slot), lock, slot})
			}
		}
		learnt, ok := learn(examples)
		if !ok {
			t.Fatalf("%s is not learnt from %v", text, examples)
		}
		for _, lock := range []string{"jobs", "x1.y2"} {
			for slot := 1; slot <= 11; slot++ {
				if p.Queue(lock, slot) != learnt.Queue(lock, slot) {
					t.Errorf("%s is learnt as %s", text, learnt)
				}
			}
		}
	}
}

// TestNotLearnt: names of which no pattern makes all are not learnt.
func TestNotLearnt(t *testing.T) {
	for _, examples := range [][]example{
		nil,
		{{"amq.gen-1", "rehearsal", 1}},
		{{"rehearsal-1", "rehearsal", 1}, {"rehearsal-x", "rehearsal", 2}},
		{{"rehearsal.c1", "rehearsal", 0}, {"other.c2", "other", 0}},
	} {
		if p, ok := learn(examples); ok {
			t.Errorf("%v is learnt as %s", examples, p)
		}
	}
}

// TestNamingIsRead: names are typed as they are printed, and what can't be meant is refused.
func TestNamingIsRead(t *testing.T) {
	const typed = "A={name}-A-{n},B={name}-B-{n},admin={name}-lock"
	if n, err := ParseNaming(" " + strings.ReplaceAll(typed, ",", ", ")); err != nil || n.String() != typed {
		t.Errorf("%q: %v", n, err)
	}
	for _, wrong := range []string{"", "A", "A=", "C={name}", "A={n}", "A={nome}-{n}", "A={name:3}", "A={name-1}", "A={name}{n:999}", "A={sha1:9999}", "A={{name}}-{n}"} {
		if n, err := ParseNaming(wrong); err == nil {
			t.Errorf("%q is read as %q", wrong, n)
		}
	}
}

// TestCommonQueue: a queue that all slots of a lock have in common is not taken for that of each slot, whatever it is
// called: one that keeps their number is there before them.
func TestCommonQueue(t *testing.T) {
	p := &Probe{Made: []Creation{
		{Lock: "jobs", Slots: 1, After: Snapshot{"jobs.counter": {}}},
		{Lock: "other", Slots: 2, After: Snapshot{"other.counter": {}}},
	}}
	if a := p.slots(Pattern{}, mustParse("{name}.permit.{n}")); a.Known() {
		t.Errorf("slots are said to exist by %s", a)
	}
}

// FuzzNaming: whatever is typed is refused, or read as what is printed of it.
func FuzzNaming(f *testing.F) {
	f.Add("A={name}-A-{n},B={sha1:8}.{n-1},admin={upper}")
	f.Add("A={{name}}{n:3}")
	f.Add("A={{{name}}}{n}}}{{")
	f.Fuzz(func(t *testing.T, text string) {
		n, err := ParseNaming(text)
		if err != nil {
			return
		}
		again, err := ParseNaming(n.String())
		if err != nil || again.String() != n.String() {
			t.Fatalf("%q is read as %q, and that as %q: %v", text, n, again, err)
		}
		n.A.Queue("jobs", 1)
	})
}

// TestGuided: the guidelines' queues are those that are called A and B, whatever else is in their names.
func TestGuided(t *testing.T) {
	for text, guided := range map[string]bool{
		"A={name}-{n}-A,B={name}-{n}-B": true, "A={name}-A-{n},B={name}-B-{n}": true, "A=app.{name}.a.{n},B=app.{name}.b.{n}": true,
		"A={name}.place.{n},B={name}.holder.{n}": false, "A=a-{name},B=held-{name}": false, "B={name}-B": false,
	} {
		n, err := ParseNaming(text)
		if err != nil {
			t.Fatal(err)
		}
		if n.Guided() != guided {
			t.Errorf("%s: expected %v", text, guided)
		}
	}
}

// Which of base64's alphabets a hash is written in is learnt from the first lock, however little of the hash there is.
func TestAlphabets(t *testing.T) {
	first, second := Telling("r000000.Test"), "r999999.Another-one"
	if len(first) == len(second) {
		t.Fatal("that a number is the length of the name is not told from names of one length")
	}
	for _, hash := range []string{"md5", "sha1", "sha256", "sha512"} {
		for _, alphabet := range []string{"base64", "base64url"} {
			for _, digits := range []string{"", ":6"} {
				p := mustParse("lock-{" + hash + alphabet + digits + "}")
				learnt, ok := learn([]example{{queue: p.Queue(first, 1), lock: first}, {queue: p.Queue(second, 1), lock: second}})
				for n := range 100 {
					lock := fmt.Sprintf("r%06d.jobs-1", n)
					if got, want := learnt.Queue(lock, 1), p.Queue(lock, 1); !ok || got != want {
						t.Fatalf("%s is taken for %s: %s instead of %s", p.Text, learnt.Text, got, want)
					}
				}
			}
		}
	}
}
