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

// Kind is a kind of database server: how to start one, and how to ask it.
type Kind struct {
	Name        string // the server's name in reports, such as MariaDB
	Program     func() (string, error)
	Template    *process.Template // the files with which each server begins
	Arguments   func(*process.Process) []string
	Environment []string
	Stop        os.Signal // stops a server that will be started again
	Quit        os.Signal // ends a server and all its processes; nil if the server is a single process
	Setup       string    // the first statement after each start; "" if there is none

	Greet  func(*Control) error // authenticates a new connection as the administrator
	Ask    func(c *Control, sql string) error
	Answer func(*Control) ([][]string, error)
}

// Instance is one server that lockproof started, with a virtual clock or the machine's clock.
type Instance struct {
	Process *process.Process
	Clock   *clock.Clock // nil if the server uses the machine's clock

	kind    *Kind
	copied  bool                    // the server's files were copied from the template
	control atomic.Pointer[Control] // replaced after a restart, while other goroutines may use it
}

// Start starts a server, with a virtual clock if clocked is true.
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

// boot starts the server's process, and opens lockproof's own connection.
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

// Query carries out a statement as the server's administrator, and returns the rows of its result.
func (i *Instance) Query(sql string) ([][]string, error) { return i.control.Load().Query(sql) }

// Port returns the port on which the server listens.
func (i *Instance) Port() int { return i.Process.Port }

// Restart stops the server and starts it again. Everything that was committed is kept.
func (i *Instance) Restart(ctx context.Context) error {
	_ = i.control.Load().Conn.Close() // an error is ignored, as the restart ends the connection
	i.Process.End(i.kind.Stop)
	return i.boot(ctx)
}

// Close stops the server and removes its files.
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

// Dial opens a connection for a client. Its number is the client's port, since the server's own number is not known
// yet.
func (i *Instance) Dial() (net.Conn, int64, error) {
	conn, err := dial(i.Process.Port)
	if err != nil {
		return nil, 0, err
	}
	return conn, int64(conn.LocalAddr().(*net.TCPAddr).Port), nil
}
