package cli

import (
	"errors"

	"github.com/go-json-experiment/json"
)

// renamed lists flags that have been renamed. The old names may also be keys in files of flags. Entries whose command
// begins with a slash are members of a campaign's file.
var renamed = []struct{ of, was, now string }{
	{"prove", "crashes", "crash-share"},
	{"prove", "depth", "pct-depth"},
	{"prove", "broker", "on"},
	{"replay", "broker", "on"},
	{"atlas", "broker", "on"},
	{"explore", "runs", "executions"},
	{"check", "lock", "lock-type"},
	{"compare", "simulated", "on=simulated"},
	{"/sample/", "crashes", "crash_share"},
	{"/sample/", "depth", "pct_depth"},
}

// calledNow returns the present name of a command's flag that was once called was; "" if there is none.
func calledNow(of, was string) string {
	for _, r := range renamed {
		if r.of == of && r.was == was {
			return r.now
		}
	}
	return ""
}

// memberNow says the present name of a renamed member of a campaign's file. It is "" for other errors.
func memberNow(err error) string {
	var unknown *json.SemanticError
	if !errors.As(err, &unknown) || !errors.Is(err, json.ErrUnknownName) {
		return ""
	}
	for _, r := range renamed {
		if string(unknown.JSONPointer) == r.of+r.was {
			return "; it is called " + r.now + " now"
		}
	}
	return ""
}
