package rabbitmq

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Setting says how to run a private node of RabbitMQ: its programs, folder and loopback ports. The node reads and
// writes no other files.
type Setting struct {
	Programs Programs
	// Dir contains all files of the node.
	Dir string
	// Name is the node's Erlang name, such as lp1@localhost.
	Name string
	// AMQP is the port for clients, Dist the port for other nodes, and Epmd the port of the epmd (Erlang's port mapper)
	// that the node uses.
	AMQP, Dist, Epmd int
	// Conf is added to the node's rabbitmq.conf.
	Conf string
	// Advanced is the node's advanced.config, in Erlang terms; "" means none.
	Advanced string
	// Flags are added to the Erlang flags of the node and of helper nodes that it starts.
	Flags []string
	// Plugins are the plugins to enable. Without plugins the node starts faster, and opens no other port.
	Plugins []string
	// Shell makes the node evaluate Erlang expressions that it reads from its standard input.
	Shell bool
	// Console is the file to which the node's programs write their output.
	Console *os.File
}

// Configure writes the files that the node reads.
func (s *Setting) Configure() error {
	files := map[string]string{
		"rabbitmq.conf": fmt.Sprintf("listeners.tcp.1 = 127.0.0.1:%d\n", s.AMQP) +
			"disk_free_limit.absolute = 1MB\n" + // else a nearly full disk silently blocks publishers
			s.Conf,
		"enabled_plugins": "[" + strings.Join(s.Plugins, ",") + "].\n",
	}
	if s.Advanced != "" {
		files["advanced.config"] = s.Advanced
	}
	if s.Programs.Root != "" {
		// A root file system other than this machine's may not define localhost.
		files["inetrc"] = "{host, {127,0,0,1}, [\"localhost\"]}.\n{lookup, [file, native]}.\n"
	}
	for name, text := range files {
		if err := os.WriteFile(s.path(name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// Command prepares to run a program of the node, in the node's directory and with output to its console. The
// environment contains only the node's settings and PATH.
func (s *Setting) Command(program string) *exec.Cmd {
	cmd := s.Programs.command(program, s.Dir)
	cmd.Dir = s.Dir
	cmd.Env = s.environment()
	cmd.Stdout, cmd.Stderr = s.Console, s.Console
	return cmd
}

// Printed is the node's output. The node prints on its console until it has read the path of its log, and from then on
// into the log.
func (s *Setting) Printed() string {
	all, _ := os.ReadFile(s.Console.Name())
	logs, _ := filepath.Glob(s.path("log/*.log"))
	for _, name := range logs {
		logged, _ := os.ReadFile(name)
		all = append(all, logged...)
	}
	return string(all)
}

// URL is the node's AMQP address for clients.
func (s *Setting) URL() string { return fmt.Sprintf("amqp://guest:guest@127.0.0.1:%d/%%2F", s.AMQP) }

// environment makes RabbitMQ use only files in the node's directory, and listen only on the node's loopback ports.
func (s *Setting) environment() []string {
	env := []string{
		"PATH=" + s.Programs.path(),
		"HOME=" + s.Dir, // the home of the Erlang cookie
		"LANG=C.UTF-8",

		fmt.Sprintf("ERL_EPMD_PORT=%d", s.Epmd),
		"ERL_EPMD_ADDRESS=127.0.0.1",
		"ERL_CRASH_DUMP_SECONDS=0", // no crash dump: it takes seconds, and is removed with the directory
		"ERL_FLAGS=" + strings.Join(append([]string{
			"-start_epmd false", // lockproof runs its own; one that Erlang starts would stay
			"-kernel inet_dist_use_interface {127,0,0,1}",
		}, s.Flags...), " "),

		"RABBITMQ_NODENAME=" + s.Name,
		fmt.Sprintf("RABBITMQ_NODE_PORT=%d", s.AMQP),
		"RABBITMQ_NODE_IP_ADDRESS=127.0.0.1",
		fmt.Sprintf("RABBITMQ_DIST_PORT=%d", s.Dist),

		"RABBITMQ_CONF_ENV_FILE=" + s.path("rabbitmq-env.conf"), // missing, so that the machine's is not read
		"RABBITMQ_CONFIG_FILE=" + s.path("rabbitmq.conf"),
		"RABBITMQ_CONFIG_FILES=" + s.path("conf.d"),
		"RABBITMQ_ADVANCED_CONFIG_FILE=" + s.path("advanced.config"),
		"RABBITMQ_GENERATED_CONFIG_DIR=" + s.path("config"),
		"RABBITMQ_ENABLED_PLUGINS_FILE=" + s.path("enabled_plugins"),
		"RABBITMQ_MNESIA_BASE=" + s.path("data"),
		"RABBITMQ_LOG_BASE=" + s.path("log"),
		"RABBITMQ_PID_FILE=" + s.path("pid"),

		"RABBITMQ_ALLOW_INPUT=1", // no shell in between, so that signals reach the server
	}
	if s.Programs.Root != "" {
		env = append(env, "ERL_INETRC="+s.path("inetrc"))
	}
	if !s.Shell {
		env = append(env, "RABBITMQ_SERVER_START_ARGS=-noinput")
	}
	return env
}

func (s *Setting) path(name string) string { return filepath.Join(s.Dir, name) }
