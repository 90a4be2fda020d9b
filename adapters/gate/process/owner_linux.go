package process

import (
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
)

// owner returns the ids of the user with the given name and of the user's group. If this process does not run as
// root, both are -1: then this process owns all files.
func owner(name string) (uid, gid int, err error) {
	if os.Geteuid() != 0 || name == "" {
		return -1, -1, nil
	}
	u, err := user.Lookup(name)
	if err != nil {
		return 0, 0, fmt.Errorf("the user %s: %w: %w", name, ErrMissing, err)
	}
	if uid, err = strconv.Atoi(u.Uid); err == nil {
		gid, err = strconv.Atoi(u.Gid)
	}
	return uid, gid, err
}

// become makes command c run as the named user, if we are root.
func become(c *exec.Cmd, name string) error {
	c.SysProcAttr = new(syscall.SysProcAttr)
	uid, gid, err := owner(name)
	if err == nil && uid >= 0 {
		c.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	}
	return err
}

// endsWithUs makes the system kill the process of c when the thread that starts it ends. So the process of c does not
// outlive this process.
func endsWithUs(c *exec.Cmd) {
	if c.SysProcAttr == nil {
		c.SysProcAttr = new(syscall.SysProcAttr)
	}
	c.SysProcAttr.Pdeathsig = syscall.SIGKILL
}
