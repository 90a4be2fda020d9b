package container

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
)

// ErrNoEngine is wrapped in the error that a [Starter] returns if no container engine answers.
var ErrNoEngine = errors.New("no container engine answers")

// Image is a server's official image. Its name is that of the server: rabbitmq, mariadb, postgres, redis or consul.
type Image struct{ Name, Tag string }

// kind is what the images of a server have in common.
type kind struct {
	tag         string // that tests start
	repository  string
	port        int
	address     string            // with the host and port left out
	environment map[string]string // has it start without a password
}

var kinds = map[string]kind{
	"rabbitmq": {"4.0", "rabbitmq", 5672, "amqp://guest:guest@%s/%%2F", nil}, // 4.0 still has transient queues that are not exclusive; 4.3 refuses them
	"mariadb":  {"10.11", "mariadb", 3306, "mysql://root@%s/", map[string]string{"MARIADB_ALLOW_EMPTY_ROOT_PASSWORD": "1"}},
	"postgres": {"15", "postgres", 5432, "postgres://postgres@%s/postgres", map[string]string{"POSTGRES_HOST_AUTH_METHOD": "trust"}},
	"redis":    {"7.0", "redis", 6379, "redis://%s/0", nil},
	"consul":   {"1.20", "hashicorp/consul", 8500, "http://%s", nil},
}

var tagForm = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$`)

// Parse is the image that is named NAME:TAG, if the name is that of a server.
func Parse(text string) (Image, bool) {
	name, tag, _ := strings.Cut(text, ":")
	_, known := kinds[name]
	return Image{name, tag}, known && tagForm.MatchString(tag)
}

// Usual is the image of a server for whoever names no tag.
func Usual(name string) Image { return Image{name, kinds[name].tag} }

// String is the image as [Parse] reads it.
func (i Image) String() string { return i.Name + ":" + i.Tag }

// Reference is the image as an engine knows it.
func (i Image) Reference() string { return kinds[i.Name].repository + ":" + i.Tag }

// Port is where the server listens in its container.
func (i Image) Port() int { return kinds[i.Name].port }

// Environment is what the server is started with.
func (i Image) Environment() map[string]string { return kinds[i.Name].environment }

// URL is the address of the server whose port is published at a host and port.
func (i Image) URL(at string) string { return fmt.Sprintf(kinds[i.Name].address, at) }

// Server is a server in a container that was started for this process alone.
type Server interface {
	URL() string
	// Restart ends the server in good order, starts it again with what it kept on disk, and waits until it is ready at its
	// old address.
	Restart(ctx context.Context) error
	// Stop removes the container with its volumes.
	Stop() error
}

// Ready reports by nil that the server at an address takes commands.
type Ready func(ctx context.Context, url string) error

// Starter starts a server in a container, and waits until it is ready. The server lives until Stop.
type Starter func(ctx context.Context, i Image, ready Ready) (Server, error)

// MayStart reports whether there may be a container engine: whether the environment names one, or its command is
// installed. It asks nobody.
func MayStart() bool {
	for _, name := range []string{"docker", "podman"} {
		if _, err := exec.LookPath(name); err == nil {
			return true
		}
	}
	return os.Getenv("DOCKER_HOST") != ""
}
