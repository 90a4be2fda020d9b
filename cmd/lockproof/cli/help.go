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

// The groups of commands, by purpose.
var groups = []*cobra.Group{
	{ID: "judge", Title: "Judge a lock:"},
	{ID: "look", Title: "Look at what was found:"},
	{ID: "study", Title: "Study locks, and the prover itself:"},
	{ID: "beside", Title: "Besides:"},
}

// annotation is the key under which a flag's section is kept, and a command's sections in their order.
const annotation = "lockproof-section"

// section gives flags of a command a title in its help. Flags in no section come last.
func section(cmd *cobra.Command, title string, names ...string) {
	if cmd.Annotations == nil {
		cmd.Annotations = make(map[string]string)
	}
	cmd.Annotations[annotation] += title + "\n"
	for _, name := range names {
		flag := cmd.Flags().Lookup(name)
		if flag.Annotations == nil {
			flag.Annotations = make(map[string][]string)
		}
		flag.Annotations[annotation] = []string{title}
	}
}

// usage is the template of what help says after a command's description.
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

// arrange gives the commands' help its form.
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

// helpCommand says of a command what its --help says. Cobra's own prints the root's help when the command is unknown, and
// calls it success.
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

// helpWidth is how wide help is at most: longer lines are hard to read.
func helpWidth() int { return min(outputStyle().Columns(), 100) }

// listed is a command in a list, with what it is for.
func listed(name string, padding int, short string) string {
	head := fmt.Sprintf("  %-*s  ", padding, name)
	return head + strings.Join(style.Wrap(short, helpWidth()-len(head)), "\n"+strings.Repeat(" ", len(head)))
}

// gap is what sets a command apart from what is said of it.
var gap = regexp.MustCompile(`\S {2,}`)

// filled is text in lines as wide as help is. Lines that are indented are commands with what is said of them.
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

// flagSections are a command's flags, section by section.
func flagSections(c *cobra.Command) string {
	var b strings.Builder
	titles := append(strings.Split(strings.TrimSuffix(c.Annotations[annotation], "\n"), "\n"), "")
	for i, title := range titles {
		if title == "" && i < len(titles)-1 {
			continue // there are no sections
		}
		flags := pflag.NewFlagSet(title, pflag.ContinueOnError)
		c.LocalFlags().VisitAll(func(flag *pflag.Flag) {
			if in := flag.Annotations[annotation]; len(in) == 0 && title == "" || len(in) == 1 && in[0] == title {
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

// shownAs is a flag's value whose type is a placeholder that can't be taken for a value.
type shownAs struct{ pflag.Value }

// Type is the placeholder.
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
