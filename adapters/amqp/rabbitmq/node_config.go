//go:build unix

package rabbitmq

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// configure writes the files that the node reads.
func (n *node) configure() error {
	files := map[string]string{
		"rabbitmq.conf": fmt.Sprintf("listeners.tcp.1 = 127.0.0.1:%d\n", n.ports.amqp) +
			"disk_free_limit.absolute = 1MB\n", // or a full disk would block publishers, silently
		"enabled_plugins": "[].\n", // none: it starts faster, and opens no other port
	}
	if n.advanced != "" {
		files["advanced.config"] = n.advanced
	}
	for name, text := range files {
		if err := os.WriteFile(n.path(name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// command prepares a program of the node: in its directory, with an environment that has nothing in
// it from outside but where programs are, its output in the node's console.
func (n *node) command(program string) *exec.Cmd {
	cmd := exec.Command(program)
	cmd.Dir = n.dir
	cmd.Env = n.environment()
	cmd.Stdout, cmd.Stderr = n.console, n.console
	return cmd
}

// environment is how RabbitMQ is told to read and write nothing outside the directory and to listen
// on no other ports, nor on any other interface.
func (n *node) environment() []string {
	return []string{
		"PATH=" + n.programs.path(),
		"HOME=" + n.dir, // for the Erlang cookie
		"LANG=C.UTF-8",

		fmt.Sprintf("ERL_EPMD_PORT=%d", n.ports.epmd),
		"ERL_EPMD_ADDRESS=127.0.0.1",
		"ERL_CRASH_DUMP_SECONDS=0", // no dump: it takes seconds, and goes with the directory
		"ERL_FLAGS=" + strings.Join([]string{
			"-start_epmd false", // ours runs; one that an Erlang starts would outlive us
			"-kernel inet_dist_use_interface {127,0,0,1}",
		}, " "),

		fmt.Sprintf("RABBITMQ_NODENAME=lockproof-%d@localhost", n.ports.amqp),
		fmt.Sprintf("RABBITMQ_NODE_PORT=%d", n.ports.amqp),
		"RABBITMQ_NODE_IP_ADDRESS=127.0.0.1",
		fmt.Sprintf("RABBITMQ_DIST_PORT=%d", n.ports.dist),

		"RABBITMQ_CONF_ENV_FILE=" + n.path("rabbitmq-env.conf"), // does not exist, so the machine's is not read
		"RABBITMQ_CONFIG_FILE=" + n.path("rabbitmq.conf"),
		"RABBITMQ_CONFIG_FILES=" + n.path("conf.d"),
		"RABBITMQ_ADVANCED_CONFIG_FILE=" + n.path("advanced.config"),
		"RABBITMQ_GENERATED_CONFIG_DIR=" + n.path("config"),
		"RABBITMQ_ENABLED_PLUGINS_FILE=" + n.path("enabled_plugins"),
		"RABBITMQ_MNESIA_BASE=" + n.path("data"),
		"RABBITMQ_LOG_BASE=" + n.path("log"),
		"RABBITMQ_PID_FILE=" + n.path("pid"),

		// Together: no shell stays between us and the server, so that our signals reach it.
		"RABBITMQ_ALLOW_INPUT=1",
		"RABBITMQ_SERVER_START_ARGS=-noinput",
	}
}
