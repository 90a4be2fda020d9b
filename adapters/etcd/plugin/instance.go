package plugin

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/lockproof/lockproof/adapters/gate/process"
	"github.com/lockproof/lockproof/adapters/gate/stream"
)

// instance is an etcd that lockproof started: one member, on loopback, without TLS and without users.
type instance struct {
	*process.Watched
	control *control
	leases  *leases
	stop    func() // ends the goroutine that keeps leases alive

	mu  sync.Mutex
	err error // an error about a lease that etcd has ended by its own clock
}

var _ stream.Upstream = (*instance)(nil)

// program returns the path of the installed etcd.
func program() (string, error) {
	path, err := exec.LookPath("etcd")
	if err != nil {
		return "", fmt.Errorf("etcd: %w (Debian's package etcd-server has it)", process.ErrMissing)
	}
	return path, nil
}

// oldest is the oldest supported version of etcd. Older gateways lack the calls that we need, or have other names for
// them.
const oldest = "3.4"

// Name returns the name and version of the server that Open starts, such as "etcd 3.4.23".
func Name() (string, error) {
	path, err := program()
	if err != nil {
		return "", err
	}
	out, err := process.Version(path, "--version")
	if err != nil {
		return "", err
	}
	_, rest, _ := strings.Cut(out, "etcd Version: ")
	version, _, _ := strings.Cut(rest, "\n")
	return "etcd " + version, fits(version)
}

// fits returns an error if the version is too old.
func fits(version string) error {
	major, rest, _ := strings.Cut(version, ".")
	minor, _, _ := strings.Cut(rest, ".")
	a, _ := strconv.Atoi(major)
	b, err := strconv.Atoi(minor)
	if err != nil || a < 3 || a == 3 && b < 4 {
		return fmt.Errorf("etcd %s is installed: expected %s or a later one", version, oldest)
	}
	return nil
}

// start prepares and starts a server.
func start() (_ *instance, err error) {
	path, err := program()
	if err != nil {
		return nil, err
	}
	i := &instance{leases: newLeases(), stop: func() {}}
	if i.Watched, err = process.NewWatched("etcd", "etcd"); err != nil {
		return nil, err
	}
	i.control = newControl(i.Port)
	if err = i.boot(path); err == nil {
		err = i.Watch()
	}
	if err != nil {
		return nil, errors.Join(err, i.close())
	}
	ctx, cancel := context.WithCancel(context.Background())
	var tasks sync.WaitGroup
	tasks.Go(func() { i.keep(ctx) })
	i.stop = func() { cancel(); tasks.Wait() }
	return i, nil
}

// boot starts the server's process.
func (i *instance) boot(path string) error {
	peers, err := process.FreePort()
	if err != nil {
		return err
	}
	ours, others := i.control.url, "http://127.0.0.1:"+strconv.Itoa(peers)
	answers := func() error {
		_, err := i.control.keys()
		return err
	}
	return i.Start(context.Background(), answers, []string{"ETCD_UNSUPPORTED_ARCH=" + runtime.GOARCH}, path, "--name", "lockproof", "--data-dir", i.Folder,
		"--listen-client-urls", ours, "--advertise-client-urls", ours, "--listen-peer-urls", others, "--initial-advertise-peer-urls", others,
		"--initial-cluster", "lockproof="+others, "--logger", "zap", "--log-level", "error")
}

// close stops the server and removes its files.
func (i *instance) close() error {
	i.stop()
	i.control.close()
	return i.Remove()
}

// keepEvery is the time between two renewals of leases. The shortest possible lease lasts two seconds.
const keepEvery = 400 * time.Millisecond

// keep renews all leases that have not ended in virtual time. If etcd has ended one of them by its own clock, for
// example because the machine was suspended, keep records an error.
func (i *instance) keep(ctx context.Context) {
	tick := time.NewTicker(keepEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		for _, id := range i.leases.all() {
			asked := time.Now()
			there, err := i.control.keep(id)
			if err == nil && i.leases.kept(id, there, asked) {
				i.note(errors.New("etcd has ended a lease by its own clock: this machine is too busy"))
			}
		}
	}
}

// note records err, unless an earlier error is recorded.
func (i *instance) note(err error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.err == nil {
		i.err = err
	}
}

// failed returns the first recorded error.
func (i *instance) failed() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.err
}

// Barrier returns once the server is at rest, and watchers that began at an old revision are up to date.
func (i *instance) Barrier() error {
	if !i.leases.synced() {
		if err := i.control.sync(); err != nil {
			return err
		}
	}
	return i.Watched.Barrier()
}
