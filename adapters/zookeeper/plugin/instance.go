package plugin

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/lockproof/lockproof/adapters/gate/process"
	"github.com/lockproof/lockproof/adapters/gate/stream"
)

// instance is a ZooKeeper that lockproof started: one server, on loopback, without TLS and without users.
type instance struct {
	*process.Watched
	control  *control
	sessions *sessions
}

var _ stream.Upstream = (*instance)(nil)

// jar is the server's location in Debian's package.
const jar = "/usr/share/java/zookeeper.jar"

// logger is the library with which the server logs to standard error. Without it, the server logs nothing.
const logger = "/usr/share/java/slf4j-simple.jar"

// program returns the path of java, if ZooKeeper is installed as well.
func program() (string, error) {
	path, err := exec.LookPath("java")
	if err == nil {
		_, err = os.Stat(jar)
	}
	if err != nil {
		return "", fmt.Errorf("ZooKeeper: %w (Debian's package zookeeper has it)", process.ErrMissing)
	}
	return path, nil
}

// Name returns the name and version of the server that Open starts, such as "ZooKeeper 3.8.0".
func Name() (string, error) {
	if _, err := program(); err != nil {
		return "", err
	}
	versions, err := filepath.Glob("/usr/share/java/zookeeper-[0-9]*.jar")
	if err != nil || len(versions) == 0 {
		return "ZooKeeper", err
	}
	return "ZooKeeper " + strings.TrimSuffix(strings.TrimPrefix(filepath.Base(versions[0]), "zookeeper-"), ".jar"), nil
}

// start prepares and starts a server.
func start() (_ *instance, err error) {
	path, err := program()
	if err != nil {
		return nil, err
	}
	i := &instance{sessions: newSessions()}
	if i.Watched, err = process.NewWatched("ZooKeeper", "zookeeper"); err != nil {
		return nil, err
	}
	if err = i.boot(path); err == nil {
		err = i.Watch()
	}
	if err != nil {
		return nil, errors.Join(err, i.close())
	}
	return i, nil
}

// settings are the server's settings. A session may have any timeout.
const settings = `tickTime=2000
maxSessionTimeout=%d
maxClientCnxns=0
dataDir=%s
clientPort=%d
clientPortAddress=127.0.0.1
admin.enableServer=false
`

// boot starts the server's process.
func (i *instance) boot(java string) error {
	file := filepath.Join(i.Folder, "zoo.cfg")
	text := fmt.Sprintf(settings, hour, filepath.Join(i.Folder, "data"), i.Port)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return err
	}
	answers := func() (err error) {
		i.control, err = connect(i.Port, 0, nil)
		return err
	}
	return i.Start(context.Background(), answers, nil, java, "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx256m", "-XX:-UsePerfData",
		"-Dzookeeper.forceSync=no", "-Dzookeeper.jmx.log4j.disable=true", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-cp", jar+":"+logger, "org.apache.zookeeper.server.quorum.QuorumPeerMain", file)
}

// close stops the server and removes its files.
func (i *instance) close() error {
	if i.control != nil {
		_ = i.control.conn.Close()
	}
	return i.Remove()
}

// end ends a session as the server does on expiry: it deletes the session's nodes, and closes the client's connection.
func (i *instance) end(o *one) error {
	c, err := connect(i.Port, o.id, o.password)
	if errors.Is(err, errExpired) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("ending a session of our ZooKeeper: %w", err)
	}
	return c.close()
}

// Kill ends a connection, and waits until the server has noticed. The client's session, and its nodes, stay.
func (i *instance) Kill(id int64) error { return errors.Join(i.Watched.Kill(id), i.Barrier()) }
