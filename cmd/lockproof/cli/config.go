package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"github.com/lockproof/lockproof/histories/infile"
	"github.com/lockproof/lockproof/histories/outfile"
	"github.com/lockproof/lockproof/histories/safetext"
)

// configFile is the name of the file with the flags that a project always uses.
const configFile = ".lockproof.yaml"

// maxConfig is the maximum size of a file of flags, in bytes. A larger file is a mistake.
const maxConfig = 1 << 20

var configInput = infile.Input{Noun: "file of flags", Most: maxConfig}

// setting is a flag or a target that the file of flags sets.
type setting struct {
	name   string
	values []string // values to be set one after the other
	line   int
}

// config is the content of a file of flags.
type config struct {
	path     string
	named    bool // the user has named the file by --config, and so permits the program in its setting exec
	commands []configured
}

// configured contains the file's settings for one command.
type configured struct {
	name     string
	line     int
	settings []setting
}

// target is the name of the setting that names the lock to judge. It is not a flag.
const target = "target"

// judging are the commands that judge a target.
var judging = []string{"prove", "explore"}

// ofProgram are flags that say which program is judged, and how. The file's values of them are ignored if another
// program or a target is typed.
var ofProgram = []string{"exec", "lock-type", "server", "servers", "holding", "contract"}

// withoutFile is the value of --config that means no file of flags, not even the project's.
const withoutFile = "none"

// unset is the name of the flag that lists settings of the file to ignore.
const unset = "unset"

// yielding maps a typed flag to those settings of the file that are then ignored, because they contradict the typed
// flag or have no meaning with it.
var yielding = map[string][]string{
	"property": {"require"},
	"stress":   append([]string{"require", "holding", "patience", "restarts"}, scheduled...),
}

// unsettable are flags that a file of flags must not set.
var unsettable = []string{"help", helpAllName, "version", "config", unset, "run-exec", "listen-anywhere", "checkpoint", "resume"}

// loadConfig reads a file of flags. asked says that the user has named the file. If the file does not exist and asked
// is false, the result is nil.
func loadConfig(path string, asked bool) (*config, error) {
	if asked && path == withoutFile {
		return nil, nil
	}
	data, err := configInput.Read(path)
	if errors.Is(err, os.ErrNotExist) && !asked {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	c, err := parseConfig(path, data)
	if c != nil {
		c.named = asked
	}
	return c, err
}

// parseConfig parses the text of a file of flags. The error names the line.
func parseConfig(path string, data []byte) (*config, error) {
	if len(data) > maxConfig {
		return nil, fmt.Errorf("%s: more than %d bytes: expected flags of commands", path, maxConfig)
	}
	c := &config{path: path}
	var document, another yaml.Node
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	err := decoder.Decode(&document)
	if errors.Is(err, io.EOF) { // the file is empty
		return c, nil
	}
	if err == nil && !errors.Is(decoder.Decode(&another), io.EOF) {
		return nil, fmt.Errorf("%s: expected one document", path)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %s", path, strings.Join(strings.Fields(err.Error()), " "))
	}
	top := document.Content[0]
	err = c.pairs(top, "commands, such as prove, each with its flags", func(key, value *yaml.Node) error {
		if slices.ContainsFunc(c.commands, func(other configured) bool { return other.name == key.Value }) {
			return c.errorf(key, "%s is there twice", key.Value)
		}
		settings, err := c.settings(value)
		c.commands = append(c.commands, configured{key.Value, key.Line, settings})
		return err
	})
	if err != nil {
		return nil, err
	}
	return c, nil
}

// settings returns the settings of a command in the file.
func (c *config) settings(flags *yaml.Node) (all []setting, err error) {
	err = c.pairs(flags, "flags by their names, such as seed: 1", func(key, value *yaml.Node) error {
		if slices.ContainsFunc(all, func(other setting) bool { return other.name == key.Value }) {
			return c.errorf(key, "%s is there twice", key.Value)
		}
		s := setting{name: key.Value, line: key.Line}
		values := []*yaml.Node{value}
		if value.Kind == yaml.SequenceNode {
			values = value.Content
		}
		if len(values) == 0 {
			return c.errorf(value, "%s: expected a value, or a list of values, found an empty list", key.Value)
		}
		for _, v := range values {
			if v.Kind != yaml.ScalarNode || v.Tag == "!!null" {
				return c.errorf(v, "%s: expected a value, or a list of values", key.Value)
			}
			s.values = append(s.values, v.Value)
		}
		all = append(all, s)
		return nil
	})
	return all, err
}

// pairs calls each for every key and value of a YAML mapping.
func (c *config) pairs(n *yaml.Node, expected string, each func(key, value *yaml.Node) error) error {
	if n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
		return nil
	}
	if n.Kind != yaml.MappingNode {
		return c.errorf(n, "expected %s", expected)
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Kind != yaml.ScalarNode {
			return c.errorf(key, "expected %s", expected)
		}
		if err := each(key, value); err != nil {
			return err
		}
	}
	return nil
}

func (c *config) errorf(at *yaml.Node, format string, args ...any) error {
	return c.at(at.Line, fmt.Errorf(format, args...))
}

func (c *config) at(line int, err error) error { return fmt.Errorf("%s:%d: %w", c.path, line, err) }

// configure sets a command's flags from the file of flags, except those that were typed.
func configure(cmd *cobra.Command, args []string) error {
	path, asked := configFile, false
	if flag := cmd.Flags().Lookup("config"); flag != nil && flag.Changed {
		path, asked = flag.Value.String(), true
	}
	if cmd.Parent() != cmd.Root() {
		return nil
	}
	c, err := loadConfig(path, asked)
	if err != nil {
		return err
	}
	if c == nil {
		_, err := without(cmd, nil)
		return err
	}
	if err := c.check(cmd.Root()); err != nil {
		return err
	}
	i := slices.IndexFunc(c.commands, func(known configured) bool { return known.name == cmd.Name() })
	var settings []setting
	if i >= 0 {
		settings = c.commands[i].settings
	}
	if settings, err = without(cmd, settings); err != nil {
		return err
	}
	return c.apply(cmd, args, settings)
}

// without returns the settings except those that --unset names. It returns an error if --unset names a setting that the
// file does not have.
func without(cmd *cobra.Command, settings []setting) ([]setting, error) {
	names, err := cmd.Flags().GetStringSlice(unset)
	if err != nil {
		return nil, err
	}
	left := slices.Clone(settings)
	for _, name := range names {
		i := slices.IndexFunc(left, func(s setting) bool { return s.name == name })
		if i < 0 {
			return nil, fmt.Errorf("--%s %s: expected what a file gives to %s: see --config", unset, name, cmd.Name())
		}
		left = slices.Delete(left, i, i+1)
	}
	return left, nil
}

// check returns an error for unknown commands and keys in the whole file, not only for the command that is run.
func (c *config) check(root *cobra.Command) error {
	var names []string
	known := make(map[string]*cobra.Command)
	for _, sub := range root.Commands() {
		if sub.Runnable() && !sub.HasSubCommands() {
			names = append(names, sub.Name())
			known[sub.Name()] = sub
		}
	}
	for _, said := range c.commands {
		cmd := known[said.name]
		if cmd == nil {
			return c.at(said.line, fmt.Errorf("command %q is not known%s", said.name, didYouMean(said.name, names)))
		}
		flags := []string{}
		if slices.Contains(judging, said.name) {
			flags = append(flags, target)
		}
		cmd.LocalFlags().VisitAll(func(flag *pflag.Flag) {
			if !slices.Contains(unsettable, flag.Name) {
				flags = append(flags, flag.Name)
			}
		})
		for _, s := range said.settings {
			if slices.Contains(flags, s.name) {
				continue
			}
			if now := calledNow(said.name, s.name); now != "" {
				return c.at(s.line, fmt.Errorf("%s: %s is called %s now", said.name, s.name, now))
			}
			return c.at(s.line, fmt.Errorf("%s: key %q is not known%s", said.name, s.name, didYouMean(s.name, flags)))
		}
	}
	return nil
}

type targetKey struct{}

// apply gives a command the settings that were not typed, and reports which. A typed target or program replaces the
// file's.
func (c *config) apply(cmd *cobra.Command, args []string, settings []setting) error {
	other := len(args) > 0 || cmd.Flags().Changed("exec")
	yields := yieldingTo(cmd)
	var given, left []string
	for _, s := range settings {
		switch {
		case other && (s.name == target || slices.Contains(ofProgram, s.name)), cmd.Flags().Changed(s.name):
			continue
		case slices.Contains(yields, s.name):
			left = append(left, s.name)
			continue
		case s.name == target && len(s.values) != 1:
			return c.at(s.line, errors.New("target: expected one name"))
		case s.name == target:
			cmd.SetContext(context.WithValue(cmd.Context(), targetKey{}, s.values[0]))
		default:
			for _, value := range s.values {
				if err := cmd.Flags().Set(s.name, value); err != nil {
					return c.at(s.line, numberExpected(cmd, err))
				}
			}
		}
		if err := c.confine(cmd, s); err != nil {
			return c.at(s.line, err)
		}
		given = append(given, s.shown())
	}
	if len(given) > 0 {
		tell(c.path + " gives " + strings.Join(given, ", "))
	}
	if len(left) > 0 {
		tell("left out of " + c.path + ", as it does not go with what is typed: " + strings.Join(left, ", "))
	}
	return nil
}

// yieldingTo returns the settings of the file that are ignored because of typed flags.
func yieldingTo(cmd *cobra.Command) (names []string) {
	for typed, give := range yielding {
		if cmd.Flags().Lookup(typed) != nil && cmd.Flags().Changed(typed) {
			names = append(names, give...)
		}
	}
	return names
}

// shown describes a setting for the user. It includes the value if that is a program to run or a file to write.
func (s *setting) shown() string {
	if s.name != "exec" && !s.writes() {
		return s.name
	}
	return s.name + ": " + safetext.Escape(strings.Join(s.values, ", "))
}

// writes reports whether a setting names a file or a folder that a command writes.
func (s *setting) writes() bool { return s.name == "out" || slices.Contains(outputs, s.name) }

// confine restricts what the file of flags may do, because the file may come from a cloned repository. Output files
// must be inside the file's folder. A program that only the file names runs only if the user permits it, for example by
// typing --config.
func (c *config) confine(cmd *cobra.Command, s setting) error {
	switch {
	case s.name == "exec" && c.named:
		return nil
	case s.name == "exec":
		return permitOnce(cmd, c.path, s.values[len(s.values)-1], cmd.CommandPath()+" --config "+quote(c.path))
	case !s.writes():
		return nil
	}
	for _, value := range s.values {
		folder := filepath.Dir(c.path)
		inside, err := outfile.Inside(folder, value)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		git, err := outfile.Inside(filepath.Join(folder, ".git"), value)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		if !inside || git { // .git contains programs and settings, which a cloned file must not change
			return fmt.Errorf("%s: %s is outside the folder of %s, or git's: a file of flags has files written in its own folder only; type --%s instead", s.name, value, c.path, s.name)
		}
		if err := cmd.Flags().SetAnnotation(s.name, within, []string{folder}); err != nil {
			return err
		}
	}
	return nil
}

// targets returns the targets to judge: the typed ones, or else the one in the file of flags.
func targets(cmd *cobra.Command, args []string) []string {
	if name, configured := cmd.Context().Value(targetKey{}).(string); configured && len(args) == 0 {
		return []string{name}
	}
	return args
}
