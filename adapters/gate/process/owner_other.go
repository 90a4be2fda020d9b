//go:build !linux

package process

import (
	"errors"
	"os/exec"
)

// errLinux is the error where a server of our own would not have our clock.
var errLinux = errors.New("a server of our own: that takes Linux")

func owner(string) (uid, gid int, err error) { return -1, -1, nil }

func become(*exec.Cmd, string) error { return errLinux }

func endsWithUs(*exec.Cmd) {}
