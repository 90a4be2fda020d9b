package container_test

import (
	"strings"
	"testing"

	"github.com/lockproof/lockproof/adapters/container"
)

// TestParse: Parse accepts NAME:TAG, where NAME is a known server, and refuses everything else, such as URLs.
func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"rabbitmq:4.1": "rabbitmq:4.1", "rabbitmq:4.1-management": "rabbitmq:4.1-management", "mariadb:11": "mariadb:11", "postgres:17-alpine": "postgres:17-alpine",
		"redis:7.4": "redis:7.4", "consul:1.20": "hashicorp/consul:1.20",
		"rabbitmq": "", "rabbitmq:": "", "redis://127.0.0.1:6379/0": "", "consul://127.0.0.1:8500": "", "mysql:8": "", "nats:2": "", "": "", ":1": "",
		"rabbitmq:4 1": "", "rabbitmq:4.1 --privileged": "", "redis:-7": "", "redis:7/x": "", "redis:7:8": "", "redis:" + strings.Repeat("7", 129): "",
	} {
		i, ok := container.Parse(text)
		if ok != (want != "") {
			t.Errorf("%q: an image: %v", text, ok)
			continue
		}
		if ok && (i.String() != text || i.Reference() != want) {
			t.Errorf("%q: %v, %s, expected %s", text, i, i.Reference(), want)
		}
	}
}

// TestUsual: every server has an image with a default tag, a port and a URL.
func TestUsual(t *testing.T) {
	for name, want := range map[string]string{
		"rabbitmq": "amqp://guest:guest@h:1/%2F", "mariadb": "mysql://root@h:1/", "postgres": "postgres://postgres@h:1/postgres",
		"redis": "redis://h:1/0", "consul": "http://h:1",
	} {
		i := container.Usual(name)
		if again, ok := container.Parse(i.String()); !ok || again != i {
			t.Errorf("%v is no image", i)
		}
		if got := i.URL("h:1"); got != want || i.Port() == 0 {
			t.Errorf("%v: %s and port %d, expected %s", i, got, i.Port(), want)
		}
	}
}

// TestMayStart: there may be an engine if the environment names one, or if its command is installed.
func TestMayStart(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	t.Setenv("DOCKER_HOST", "")
	if container.MayStart() {
		t.Error("found where there is nothing")
	}
	t.Setenv("DOCKER_HOST", "unix:///nowhere")
	if !container.MayStart() {
		t.Error("the environment names one, and it is not found")
	}
}
