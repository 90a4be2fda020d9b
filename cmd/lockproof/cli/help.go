package cli

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
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

// section gives flags of a command a title in its help. What is in no section comes last.
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
{{.Example}}
{{end}}{{$cmds := .Commands}}{{range $group := .Groups}}
{{.Title}}
{{range $cmds}}{{if and (eq .GroupID $group.ID) .IsAvailableCommand}}  {{rpad .Name .NamePadding}} {{.Short}}
{{end}}{{end}}{{end}}{{if and .HasAvailableSubCommands (not .Groups)}}
Commands:
{{range $cmds}}{{if .IsAvailableCommand}}  {{rpad .Name .NamePadding}} {{.Short}}
{{end}}{{end}}{{end}}{{flagSections .}}{{if .HasAvailableSubCommands}}
Use "{{.CommandPath}} COMMAND --help" for more about a command.
{{end}}`

// arrange gives the commands' help its form.
func arrange(root *cobra.Command) {
	cobra.AddTemplateFunc("flagSections", flagSections)
	root.AddGroup(groups...)
	root.SetHelpCommandGroupID("beside")
	root.SetCompletionCommandGroupID("beside")
	root.SetUsageTemplate(usage)
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
			b.WriteString("\n" + title + ":\n" + flags.FlagUsagesWrapped(min(outputStyle().Columns(), 100)))
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
