package main

import (
	"os/exec"
	"testing"
	"time"
)

// TestIdle: a process is ended as soon as it has used next to nothing of the processor between two looks, and no sooner.
func TestIdle(t *testing.T) {
	looks, ended := 0, false
	endIdle(t.Context(), func() { ended = true }, func() time.Duration {
		if ended {
			t.Error("it is looked at after its end")
		}
		looks++
		return time.Duration(min(looks, 5))*2*tick + time.Duration(looks)*tick/2
	}, time.Millisecond)
	if !ended || looks != 6 {
		t.Errorf("ended %v after %d looks", ended, looks)
	}
}

// TestUsed: what another process uses of the processor is told while it runs.
func TestUsed(t *testing.T) {
	c := exec.CommandContext(t.Context(), "sh", "-c", "while :; do :; done")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	for used(c.Process.Pid) < 10*tick {
		time.Sleep(tick)
	}
	if err := c.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = c.Wait() // it was killed
}
