//go:build unix

package rabbitmq

import "testing"

func TestComplaint(t *testing.T) {
	for _, c := range []struct{ printed, want string }{
		{"", "nothing"},
		{"\nsh: 1: erl: not found\n", "sh: 1: erl: not found"},
		{`
BOOT FAILED
2026-01-01 00:00:00 [error] <0.132.0> BOOT FAILED
2026-01-01 00:00:00 [error] <0.132.0> ===========
2026-01-01 00:00:00 [error] <0.132.0> ERROR: could not bind to distribution port 24579 on host localhost. It could be in use by another process
===========
ERROR: could not bind to distribution port 24579 on host localhost. It could be in use by another process

2026-01-01 00:00:01 [error] <0.132.0>     supervisor: {local,rabbit_prelaunch_sup}
Crash dump is being written to: erl_crash.dump...done
`, "ERROR: could not bind to distribution port 24579 on host localhost. It could be in use by another process"},
		{`
  Starting broker...
BOOT FAILED
===========
Error during startup: {error,
                       {could_not_start_listener,"127.0.0.1",21587,
                        eaddrinuse}}

{"init terminating in do_boot",{error}}
`, `Error during startup: {error, {could_not_start_listener,"127.0.0.1",21587, eaddrinuse}}`},
	} {
		if got := ServerLog(c.printed); got != c.want {
			t.Errorf("of\n%s\ngot  %s\nwant %s", c.printed, got, c.want)
		}
	}
}
