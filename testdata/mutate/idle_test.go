package main

import (
	"os/exec"
	"testing"
	"time"
)

// TestIdle: a process is ended as soon as it has used next to nothing of the processor between two looks, and did not want
// any, and no sooner.
func TestIdle(t *testing.T) {
	looks, ended := 0, false
	endIdle(t.Context(), func() { ended = true }, func() (time.Duration, bool) {
		if ended {
			t.Error("it is looked at after its end")
		}
		looks++
		return time.Duration(min(looks, 5))*2*tick + time.Duration(looks)*tick/2, looks < 8
	}, time.Millisecond)
	if !ended || looks != 8 {
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
	if !wants(c.Process.Pid) {
		t.Error("a loop wants no processor")
	}
	if err := c.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = c.Wait() // it was killed
}

// TestWantsNothing: a process that waits for its input wants nothing of the processor.
func TestWantsNothing(t *testing.T) {
	c := exec.CommandContext(t.Context(), "sh", "-c", "read -r line")
	if _, err := c.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	for wants(c.Process.Pid) {
		time.Sleep(tick)
	}
	if err := c.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = c.Wait() // it was killed
}
