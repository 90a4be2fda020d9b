package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockproof/lockproof/histories/style"
)

// advice says which lock to take for a need, and more says why.
type advice struct{ need, take, more string }

var advices = []advice{
	{
		"Your lock must not outlive its holder", "take one on RabbitMQ: it goes with its connection.",
		"It is free within milliseconds of a crash that the broker sees. If only the network is gone, it takes as long as the heartbeat.",
	},
	{
		"Your lock must end whatever happens", "take a lease, on Redis or in a database.",
		"A dead holder's slot is free when its lease is over, and no sooner. A holder that is too slow has to know it by its own clock, which these do.",
	},
	{
		"You need several slots, and to change how many", "take `semaphore`, on RabbitMQ.",
		"Its slots have numbers, and its administrators add and remove them under holders. `token-semaphore` is granted in fewer commands; what that costs is [measured beside it](../../model/amqp/consumption/README.md).",
	},
	{
		"You have a database, and nothing else", "take the form with a row for each slot.",
		"In the form with a master row all callers of a lock wait for one row, the releasing client among them. PostgreSQL gives a row to clients that come by before those that wait for it. With 8 clients of one lock, 3 to 64 were refused for each grant, in runs of a second or so.",
	},
	{
		"You want the fastest", "take one on Redis, and know that a server without a log loses its grants with its process.",
		"This one kept no log. Commits of the databases were on disk before they were answered, and that is most of the time that they take.",
	},
	{
		"Two writers at once are worse than none", "no lock is enough: the written resource has to refuse the older of the two, by a fencing token.",
		"The column *beyond* is how long a client believed that it held what was another's already.",
	},
}

// Advice says which lock to take, as Markdown with lines of at most 120 columns, for the page.
func Advice() string {
	var b strings.Builder
	for _, a := range advices {
		text := fmt.Sprintf("**%s**: %s %s", a.need, a.take, a.more)
		for i, line := range style.Wrap(text, 118) {
			fmt.Fprintf(&b, "%s%s\n", [2]string{"- ", "  "}[min(i, 1)], line)
		}
	}
	return b.String()
}

// advice says in sentences which lock to take. It is empty unless locks on several kinds of servers were compared.
func (c *Comparison) advice() (out []string) {
	if !slices.ContainsFunc(c.Rows, func(l ComparedLock) bool { return l.Server != c.Rows[0].Server }) {
		return nil
	}
	for _, a := range advices {
		out = append(out, a.need+": "+strings.ReplaceAll(a.take, "`", ""))
	}
	return out
}
