package cli

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lockproof/lockproof/histories/style"
)

// groups are the groups of commands in the help, by purpose.
var groups = []*cobra.Group{
	{ID: "judge", Title: "Judge a lock:"},
	{ID: "look", Title: "Look at what was found:"},
	{ID: "study", Title: "Study locks, and the prover itself:"},
	{ID: "beside", Title: "Besides:"},
}

// Keys of annotations of commands and flags.
const (
	annotation = "lockproof-section" // the section of a flag; for a command, its sections in order
	seldom     = "lockproof-seldom"  // marks a flag that only --help-all shows
)

// section groups flags of a command under a title in its help. --help shows the everyday flags; only --help-all shows
// the others. Flags without a section come last, and are always shown.
func section(cmd *cobra.Command, title, everyday, others string) {
	if cmd.Annotations == nil {
		cmd.Annotations = make(map[string]string)
	}
	cmd.Annotations[annotation] += title + "\n"
	annotate := func(names, key string) {
		for _, name := range strings.Fields(names) {
			if err := cmd.Flags().SetAnnotation(name, key, []string{title}); err != nil {
				panic(err) // programming error: the flag does not exist
			}
		}
	}
	annotate(everyday+" "+others, annotation)
	annotate(others, seldom)
}

// helpAll is the value of the flag --help-all, which makes a command's help show all flags.
type helpAll struct{ of *cobra.Command }

// Set implements pflag.Value.
func (h helpAll) Set(text string) error { return h.of.Flags().Set("help", text) }

// String implements pflag.Value.
func (helpAll) String() string { return "" }

// Type implements pflag.Value.
func (helpAll) Type() string { return "bool" }

const helpAllName = "help-all"

// addHelpAll adds the flag --help-all to a command and its subcommands.
func addHelpAll(c *cobra.Command) {
	c.InitDefaultHelpFlag()
	flag := c.Flags().VarPF(helpAll{c}, helpAllName, "", "")
	flag.NoOptDefVal = "true"
	others := 0
	c.LocalFlags().VisitAll(func(flag *pflag.Flag) {
		if flag.Annotations[seldom] != nil {
			others++
		}
	})
	if flag.Usage = "help with all flags"; others > 0 {
		flag.Usage = fmt.Sprintf("help with all flags: %d more than --help shows", others)
	}
	for _, sub := range c.Commands() {
		addHelpAll(sub)
	}
}

// usage is the template for the part of the help that follows a command's description.
const usage = `Usage:
  {{.UseLine}}{{if .HasAvailableSubCommands}}
  {{.CommandPath}} COMMAND{{end}}
{{if .HasExample}}
Examples:
{{filled .Example}}
{{end}}{{$cmds := .Commands}}{{range $group := .Groups}}
{{.Title}}
{{range $cmds}}{{if and (eq .GroupID $group.ID) .IsAvailableCommand}}{{listed .Name .NamePadding .Short}}
{{end}}{{end}}{{end}}{{if and .HasAvailableSubCommands (not .Groups)}}
Commands:
{{range $cmds}}{{if .IsAvailableCommand}}{{listed .Name .NamePadding .Short}}
{{end}}{{end}}{{end}}{{flagSections .}}{{if .HasAvailableSubCommands}}
Use "{{.CommandPath}} COMMAND --help" for more about a command.
{{end}}`

// arrange sets up the help of all commands: its groups, its templates, and the command `help`.
func arrange(root *cobra.Command) {
	cobra.AddTemplateFunc("flagSections", flagSections)
	root.AddGroup(groups...)
	root.SetHelpCommand(helpCommand())
	root.SetHelpCommandGroupID("beside")
	root.SetCompletionCommandGroupID("beside")
	cobra.AddTemplateFunc("filled", filled)
	cobra.AddTemplateFunc("listed", listed)
	root.SetUsageTemplate(usage)
	root.SetHelpTemplate("{{with (or .Long .Short)}}{{filled .}}\n\n{{end}}{{if or .Runnable .HasSubCommands}}{{.UsageString}}{{end}}")
}

// helpCommand prints what a command's --help prints. Cobra's own help command prints the root's help if the command is
// unknown, and reports success.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use: "help [COMMAND]", Short: "say what a command does", Example: "  lockproof help prove",
		RunE: func(c *cobra.Command, args []string) error {
			of, rest, err := c.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return cmp.Or(err, unknownCommand(of, rest))
			}
			return of.Help()
		},
	}
}

// helpWidth is the width of help in columns, at most 100. Longer lines are hard to read.
func helpWidth() int { return min(outputStyle().Columns(), 100) }

// listed formats a command with its description for a list.
func listed(name string, padding int, short string) string {
	head := fmt.Sprintf("  %-*s  ", padding, name)
	return head + strings.Join(style.Wrap(short, helpWidth()-len(head)), "\n"+strings.Repeat(" ", len(head)))
}

// gap matches the spaces between a command and its description.
var gap = regexp.MustCompile(`\S {2,}`)

// filled wraps text to the width of help. Indented lines are taken for commands with descriptions.
func filled(text string) string {
	var out, paragraph []string
	end := func() {
		if len(paragraph) > 0 {
			out = append(out, style.Fill(paragraph, " ", helpWidth())...)
		}
		paragraph = nil
	}
	for line := range strings.Lines(strings.Trim(text, "\n")) {
		line = strings.TrimRight(line, " \n")
		at := gap.FindStringIndex(line)
		switch {
		case line == "":
			end()
			out = append(out, "")
		case !strings.HasPrefix(line, " "):
			paragraph = append(paragraph, strings.Fields(line)...)
		case at == nil || utf8.RuneCountInString(line) <= helpWidth():
			end()
			out = append(out, line)
		default:
			end()
			said := line[at[1]:]
			out = append(out, line[:at[0]+1])
			for _, part := range style.Wrap(said, helpWidth()-6) {
				out = append(out, "      "+part)
			}
		}
	}
	end()
	return strings.Join(out, "\n")
}

// flagSections returns the help about a command's flags, by section.
func flagSections(c *cobra.Command) string {
	var b strings.Builder
	all := c.Flags().Changed(helpAllName)
	titles := append(strings.Split(strings.TrimSuffix(c.Annotations[annotation], "\n"), "\n"), "")
	for i, title := range titles {
		if title == "" && i < len(titles)-1 {
			continue // the command has no sections
		}
		flags := pflag.NewFlagSet(title, pflag.ContinueOnError)
		c.LocalFlags().VisitAll(func(flag *pflag.Flag) {
			if (all || flag.Annotations[seldom] == nil) && strings.Join(flag.Annotations[annotation], "") == title {
				shown := *flag
				shown.Value = shownAs{flag.Value}
				if shown.DefValue == "[]" {
					shown.DefValue = ""
				}
				flags.AddFlag(&shown)
			}
		})
		if flags.HasAvailableFlags() {
			if title == "" {
				title = "Flags"
			}
			b.WriteString("\n" + title + ":\n" + flags.FlagUsagesWrapped(helpWidth()))
		}
	}
	return b.String()
}

// shownAs changes how help shows the type of a flag's value, so that it cannot be mistaken for a value.
type shownAs struct{ pflag.Value }

// Type is the placeholder that help shows for the value.
func (s shownAs) Type() string {
	switch t := s.Value.Type(); t {
	case "int", "uint64":
		return "N"
	case "intSlice":
		return "N,N"
	case "float64":
		return "SHARE"
	case "string":
		return "TEXT"
	case "duration":
		return "TIME"
	default:
		return t
	}
}
