package histories

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// What a file is called has letters, digits and dashes, whatever the target is called.
func TestFileNames(t *testing.T) {
	for target, want := range map[string]string{
		"azAZ09-_":        "azAZ09-_",
		"@[`{/:":          "------",
		"python3 ../a.py": "python3----a-py",
		"ä/ß":             "---",
	} {
		if got := FileName(property.NoLeak, target); got != want+".no-leak.json" {
			t.Errorf("%q: %s", target, got)
		}
		if got := HistoryName(target); got != want+".history.jsonl" {
			t.Errorf("%q: %s", target, got)
		}
	}
}

// A counterexample may be as large as is said, and no larger; one that cannot be read is said to be that.
func TestCounterexampleSize(t *testing.T) {
	data, err := sampleCounterexample().Encode()
	if err != nil {
		t.Fatal(err)
	}
	full := append(data, bytes.Repeat([]byte(" "), maxCounterexample-len(data))...)
	if _, err := DecodeCounterexample("full", full); err != nil {
		t.Error(err)
	}
	path := filepath.Join(t.TempDir(), "over.json")
	if err := os.WriteFile(path, append(full, ' '), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadCounterexample(path); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Errorf("one byte too many: %v", err)
	}
	for _, path := range []string{filepath.Join(t.TempDir(), "missing.json"), t.TempDir()} {
		if _, err := LoadCounterexample(path); err == nil {
			t.Errorf("%s was read", path)
		}
	}
}

// Only keywords are keys that EDN's events are known by; and what stands after an event is no part of it.
func TestKeysAreKeywords(t *testing.T) {
	read := func(text string) error {
		_, _, err := ReadHistory(strings.NewReader(text), "keys", Unnamed)
		return err
	}
	const event = `{:process 0, :type :invoke, :f :acquire, :value nil`
	for text, wrong := range map[string]string{
		event + `}`:                                   "",
		event + `, "time" "noon"}`:                    "",     // a string is another key
		event + `, :time "noon"}`:                     "time", // and a keyword is not
		`{"type":"invoke","process":0,"f":"acquire"}`: "",
		"{\"type\":\"invoke\",\"process\":0,\"f\":\"acquire\"} \t\r\n":                                                          "",
		`{"type":"invoke","process":0,"f":"acquire"} x`:                                                                         "the end of the line",
		`{"type":"invoke","process":0,"f":"acquire"}` + "\n" + `{"type":"ok","process":0,"f":"acquire","value":{"held":true}}}`: "the end of the line",
		"{\"type\":\"invoke\",\"process\":\n0,\"f\":\"acquire\"}":                                                               "number",
		"{\"type\":\"invoke\",\"process\":0\t,\"f\":\"acquire\" }":                                                              "",
		`{"type":"invoke","process":0x,"f":"acquire"}`:                                                                          "number",
		`{"type":"invoke","process":0 ,"f":"acquire"}`:                                                                          "",
		"{\"type\":\"invoke\",\"process\":0\r,\"f\":\"acquire\",\"time\":5}":                                                    "",
	} {
		if err := read(text); wrong == "" && err != nil || wrong != "" && (err == nil || !strings.Contains(err.Error(), wrong)) {
			t.Errorf("%q: %v, want %q", text, err, wrong)
		}
	}
}

// XML has most characters, and is not given the others.
func TestXMLCharacters(t *testing.T) {
	const some = "\t\n\u0020\ud7ff\ue000\ufffc\U00010000\U0010ffff"
	if got := legal(some); got != some {
		t.Errorf("%q became %q", some, got)
	}
	if got := legal("\x00\x08\x0b\r\x1f\ufffd\ufffe\uffff"); got != "" {
		t.Errorf("%q is left of what XML does not have", got)
	}
}

// Each reply has its words.
func TestReplyWords(t *testing.T) {
	for want, r := range map[string]amqp.Reply{
		"":                {Kind: amqp.NoReply},
		"404 NOT_FOUND":   {Kind: amqp.ChannelClosed, Code: amqp.NotFound},
		"connection gone": {Kind: amqp.ConnectionClosed},
		"connection closed, 320 CONNECTION_FORCED": {Kind: amqp.ConnectionClosed, Code: amqp.ConnectionForced},
		"no reply":     {Kind: amqp.Lost},
		"message 7":    {Kind: amqp.GetOK, Message: 7},
		"empty":        {Kind: amqp.GetEmpty},
		"NO_ROUTE":     {Kind: amqp.Ack, Returned: 1},
		"ok, NO_ROUTE": {Kind: amqp.OK, Returned: 2},
		"ok":           {Kind: amqp.OK},
		"ack":          {Kind: amqp.Ack},
	} {
		if got := replyWords(r); got != want {
			t.Errorf("%+v: %q, want %q", r, got, want)
		}
	}
}

// Each call and each answer has its words.
func TestCallWords(t *testing.T) {
	for want, e := range map[string]history.Event{
		"acquire": {F: history.F(lock.Acquire), Slot: 3}, "add 2": {F: history.F(lock.Add), Slots: 2}, "wait 3": {F: history.F(lock.Wait), Slot: 3},
		"create 1": {F: history.F(lock.Create), Slots: 1}, "remove 4": {F: history.F(lock.Remove), Slots: 4}, "destroy": {F: history.F(lock.Destroy), Slots: 4},
	} {
		if got := invocationWords(e, lock.Semaphore); got != want {
			t.Errorf("%+v: %q, want %q", e, got, want)
		}
	}
	answer := func(op lock.Op, typ history.EventType, held bool, slot, slots uint16, why lock.Reason) history.Event {
		return history.Event{F: history.F(op), Type: typ, Held: held, Slot: slot, Slots: slots, Reason: why}
	}
	var said strings.Builder
	for _, op := range []lock.Op{lock.Acquire, lock.Verify, lock.Release, lock.Count, lock.Wait, lock.Add, lock.Destroy} {
		for _, typ := range []history.EventType{history.OK, history.Fail, history.Info} {
			for _, why := range []lock.Reason{lock.NoReason, lock.Full, lock.TimedOut} {
				for _, held := range []bool{true, false} {
					said.WriteString(op.String() + " " + typ.String() + " " + why.String() + ": " + completionWords(answer(op, typ, held, 1, 3, why), lock.Semaphore) + "\n")
				}
			}
		}
	}
	golden(t, "answers.txt", said.String())
}
