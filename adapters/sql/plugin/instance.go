package plugin

import (
	"context"
	"errors"
	"net"
	"os"
	"sync/atomic"

	"github.com/lockproof/lockproof/adapters/gate/clock"
	"github.com/lockproof/lockproof/adapters/gate/process"
)

// Kind is what is different between kinds of database servers: how one is started, and how it is asked.
type Kind struct {
	Name        string // such as MariaDB
	Program     func() (string, error)
	Template    *process.Template // the data with which each server begins
	Arguments   func(*process.Process) []string
	Environment []string
	Stop        os.Signal // ends a server that is started again
	Quit        os.Signal // ends a server and all its processes; nil is that one process is all
	Setup       string    // the first statement of each start; "" is none

	Greet  func(*Control) error // says who we are
	Ask    func(c *Control, sql string) error
	Answer func(*Control) ([][]string, error)
}

// Instance is one server, with a clock of its own or with the machine's.
type Instance struct {
	Process *process.Process
	Clock   *clock.Clock // nil is the machine's

	kind    *Kind
	copied  bool                    // its files are the template's
	control atomic.Pointer[Control] // another one after a restart, while others may ask
}

// Start starts a server, with a clock of ours or without.
func (k *Kind) Start(clocked bool) (_ *Instance, err error) {
	i := &Instance{kind: k}
	if i.Process, err = k.Template.New(); err != nil {
		return nil, err
	}
	ctx := context.Background()
	if err = k.Template.Copy(ctx, i.Process); err == nil {
		i.copied = true
	}
	if err == nil && clocked {
		i.Clock, err = i.Process.Clock(ctx)
	}
	if err == nil {
		err = i.boot(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, i.Close())
	}
	return i, nil
}

// boot starts the process, and connects to it.
func (i *Instance) boot(ctx context.Context) error {
	path, err := i.kind.Program()
	if err != nil {
		return err
	}
	answers := func() error {
		control, err := i.kind.connect(i.Process.Port)
		if err == nil {
			i.control.Store(control)
		}
		return err
	}
	env := append(i.Clock.Environment(), i.kind.Environment...)
	if err := i.Process.Start(ctx, answers, env, path, i.kind.Arguments(i.Process)...); err != nil || i.kind.Setup == "" {
		return err
	}
	_, err = i.Query(i.kind.Setup)
	return err
}

// Query asks the server, as its administrator.
func (i *Instance) Query(sql string) ([][]string, error) { return i.control.Load().Query(sql) }

// Port is where the server listens.
func (i *Instance) Port() int { return i.Process.Port }

// Restart stops the server and starts it again, with everything that was committed.
func (i *Instance) Restart(ctx context.Context) error {
	_ = i.control.Load().Conn.Close() // it ends anyway
	i.Process.End(i.kind.Stop)
	return i.boot(ctx)
}

// Close ends the server and removes its files.
func (i *Instance) Close() error {
	var errs []error
	if control := i.control.Load(); control != nil {
		errs = append(errs, control.Conn.Close())
	}
	errs = append(errs, i.Clock.Close())
	if i.kind.Quit != nil {
		i.Process.End(i.kind.Quit)
	}
	errs = append(errs, i.Process.Remove())
	if i.copied {
		errs = append(errs, i.kind.Template.Drop())
	}
	return errors.Join(errs...)
}

// Dial connects a client. The connection's number is its port: the server's own is not known yet.
func (i *Instance) Dial() (net.Conn, int64, error) {
	conn, err := dial(i.Process.Port)
	if err != nil {
		return nil, 0, err
	}
	return conn, int64(conn.LocalAddr().(*net.TCPAddr).Port), nil
}
