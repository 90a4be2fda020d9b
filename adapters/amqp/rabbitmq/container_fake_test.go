//go:build unix

package rabbitmq_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockproof/lockproof/adapters/amqp/rabbitmq"
	"github.com/lockproof/lockproof/adapters/amqp/wire"
)

// envContainer has this test binary listen at an address as the broker in a container that is not one.
const envContainer = "LOCKPROOF_TEST_CONTAINER"

// TestInContainer is what runs in a container that is not one. Run as a test, it is nothing.
func TestInContainer(t *testing.T) {
	address := os.Getenv(envContainer)
	if address == "" {
		return
	}
	if _, err := wire.Listen(address, wire.Config{Backend: wire.NewSimulated(wire.SimulatedOptions{}), Gate: wire.Through{}}); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Minute) // until it is killed
}

// fakeDocker is a command that does with processes what Docker does with containers, as far as it is asked to here, and
// keeps account of what it was told.
const fakeDocker = `#!/bin/sh
echo "$*" >>"$DOCKER_DIR/told"
case $1 in
context) echo unix:///var/run/docker.sock; exit ;;
version) echo 28.0; exit ;;
run)
	name=$4 address=${6%:5672}
	echo "$address" >"$DOCKER_DIR/$name.address" ;;
restart)
	name=$4
	kill -KILL "$(cat "$DOCKER_DIR/$name.process")" ;;
container) name=$3; [ -e "$DOCKER_DIR/$name.process" ]; exit ;;
rm)
	name=$4
	kill -KILL "$(cat "$DOCKER_DIR/$name.process")"
	rm "$DOCKER_DIR/$name.process"
	exit ;;
esac
LOCKPROOF_TEST_CONTAINER=$(cat "$DOCKER_DIR/$name.address") "$DOCKER_PROGRAM" -test.run '^TestInContainer$' >/dev/null 2>&1 &
echo $! >"$DOCKER_DIR/$name.process"
echo "$name"
`

// useFakeDocker puts it before the real one, and returns its directory.
func useFakeDocker(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "docker"), []byte(fakeDocker), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	t.Setenv("DOCKER_DIR", dir)
	t.Setenv("DOCKER_PROGRAM", os.Args[0])
	t.Setenv("DOCKER_HOST", "")
	return dir
}

// TestContainerCommands: what Docker is told to do, so that a broker starts, is restarted at the same address, and leaves
// nothing behind.
func TestContainerCommands(t *testing.T) {
	dir := useFakeDocker(t)
	b, err := rabbitmq.StartContainer(t.Context(), rabbitmq.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Stop() })
	connect(t, b.URL)
	if err := b.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	connect(t, b.URL)
	if err := b.Stop(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(patience); len(listenersAt(b.URL)) > 0; { // a process that is killed dies when it is scheduled
		if time.Now().After(deadline) {
			t.Fatal("still listening")
		}
	}
	told, err := os.ReadFile(filepath.Join(dir, "told"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(told)), "\n")
	var name, address string
	if _, err := fmt.Sscanf(lines[2], "run --detach --name %s --publish %s rabbitmq:4.0", &name, &address); err != nil {
		t.Fatalf("%q: %v", lines, err)
	}
	if want := []string{lines[0], lines[1], lines[2], "restart --time 30 " + name, "rm --force --volumes " + name}; strings.Join(lines, "\n") != strings.Join(want, "\n") {
		t.Errorf("Docker was told\n%s\nexpected\n%s", told, strings.Join(want, "\n"))
	}
	if !strings.HasPrefix(address, "127.0.0.1:") || !strings.HasSuffix(address, ":5672") {
		t.Errorf("%s is published: expected a port of this machine alone", address)
	}
}

// envContainerHelper has TestContainerHelper start a container and wait.
const envContainerHelper = "LOCKPROOF_TEST_CONTAINER_HELPER"

// TestContainerHelper is the program that the test below kills. Run as a test, it is nothing.
func TestContainerHelper(t *testing.T) {
	if os.Getenv(envContainerHelper) == "" {
		return
	}
	b, err := rabbitmq.StartContainer(t.Context(), rabbitmq.Options{})
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println("ready: " + b.URL)
	time.Sleep(time.Minute)
}

// TestContainerEndsWithItsProcess: when a process is killed that has started a container, the container is removed.
func TestContainerEndsWithItsProcess(t *testing.T) {
	useFakeDocker(t)
	helper := exec.Command(os.Args[0], "-test.run=^TestContainerHelper$")
	helper.Env = append(os.Environ(), envContainerHelper+"=1")
	stdout, err := helper.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := helper.Start(); err != nil {
		t.Fatal(err)
	}
	var url string
	if _, err := fmt.Fscanf(stdout, "ready: %s\n", &url); err != nil {
		t.Fatal(err)
	}
	if err := helper.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = helper.Wait()
	wantNothingLeft(t, t.TempDir(), url)
}

// TestContainerIsRefused: what Docker says is what is told, and the name it was to have is not kept.
func TestContainerIsRefused(t *testing.T) {
	dir := useFakeDocker(t)
	refuse := "#!/bin/sh\n[ $1 = run ] || { echo unix:///x; exit; }\necho 'pull access denied for rabbitmq' >&2\nexit 125\n"
	if err := os.WriteFile(filepath.Join(dir, "docker"), []byte(refuse), 0o755); err != nil {
		t.Fatal(err)
	}
	_, err := rabbitmq.StartContainer(t.Context(), rabbitmq.Options{})
	if err == nil || err.Error() != "starting rabbitmq:4.0 in Docker: docker run: pull access denied for rabbitmq" {
		t.Error(err)
	}
}
