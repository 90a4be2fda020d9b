package node

import (
	"os/exec"
	"syscall"
)

// endsWithUs has a process killed when the thread that starts it ends.
func endsWithUs(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
