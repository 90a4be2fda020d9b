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

// Image is a server's official image. Name is the server's name: rabbitmq, mariadb, postgres, redis or consul.
type Image struct{ Name, Tag string }

// kind is what all images of one server have in common.
type kind struct {
	tag         string // tag of the image that tests start by default
	repository  string
	port        int
	address     string            // format of the server's URL; %s is host:port
	environment map[string]string // environment variables that let the server start without a password
}

var kinds = map[string]kind{
	"rabbitmq": {"4.0", "rabbitmq", 5672, "amqp://guest:guest@%s/%%2F", nil}, // 4.0 still has transient queues that are not exclusive; 4.3 refuses them
	"mariadb":  {"10.11", "mariadb", 3306, "mysql://root@%s/", map[string]string{"MARIADB_ALLOW_EMPTY_ROOT_PASSWORD": "1"}},
	"postgres": {"15", "postgres", 5432, "postgres://postgres@%s/postgres", map[string]string{"POSTGRES_HOST_AUTH_METHOD": "trust"}},
	"redis":    {"7.0", "redis", 6379, "redis://%s/0", nil},
	"consul":   {"1.20", "hashicorp/consul", 8500, "http://%s", nil},
}

var tagForm = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$`)

// Parse parses an image of the form NAME:TAG. ok is false if no server has that name.
func Parse(text string) (Image, bool) {
	name, tag, _ := strings.Cut(text, ":")
	_, known := kinds[name]
	return Image{name, tag}, known && tagForm.MatchString(tag)
}

// Usual returns the image of a server with its default tag.
func Usual(name string) Image { return Image{name, kinds[name].tag} }

// String returns the image in the form that [Parse] reads.
func (i Image) String() string { return i.Name + ":" + i.Tag }

// Reference returns the image's name in the form that a container engine takes, with repository and tag.
func (i Image) Reference() string { return kinds[i.Name].repository + ":" + i.Tag }

// Port returns the port on which the server listens in its container.
func (i Image) Port() int { return kinds[i.Name].port }

// Environment returns the environment variables with which the server is started.
func (i Image) Environment() map[string]string { return kinds[i.Name].environment }

// URL returns the server's address if its port is published at the given host and port.
func (i Image) URL(at string) string { return fmt.Sprintf(kinds[i.Name].address, at) }

// Server is a server in a container that was started for this process alone.
type Server interface {
	URL() string
	// Restart shuts the server down cleanly and starts it again with its data on disk. It returns when the server
	// accepts commands at its old address.
	Restart(ctx context.Context) error
	// Stop removes the container and its volumes.
	Stop() error
}

// Ready returns nil if the server at url accepts commands.
type Ready func(ctx context.Context, url string) error

// Starter starts a server in a container, and returns when the server accepts commands. The server runs until Stop is
// called.
type Starter func(ctx context.Context, i Image, ready Ready) (Server, error)

// MayStart reports whether a container engine may be available: an environment variable names one, or the engine's
// command is installed. It does not contact the engine.
func MayStart() bool {
	for _, name := range []string{"docker", "podman"} {
		if _, err := exec.LookPath(name); err == nil {
			return true
		}
	}
	return os.Getenv("DOCKER_HOST") != ""
}
