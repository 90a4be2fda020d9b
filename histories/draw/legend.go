package draw

import (
	"regexp"

	"github.com/lockproof/lockproof/histories/style"
	"github.com/lockproof/lockproof/model/lock"
)

// signs are the marks in a diagram and their meanings. Each has a pattern that finds the mark in a drawn text.
var signs = []struct {
	find          *regexp.Regexp
	mark, meaning string
}{
	{regexp.MustCompile("(?m)^" + decided), decided, "where it was decided"},
	{regexp.MustCompile("[┏┗]"), "┏ ┗", "call and return"},
	{regexp.MustCompile("╺"), "╺", "both in one step"},
	{regexp.MustCompile("[│┃├┣╎╏][0-9]"), "│1", "believes it holds slot 1"},
	{regexp.MustCompile("[│┃├┣╎╏]•"), "│•", "believes it holds the lock"},
	{regexp.MustCompile("[╎╏]"), "╎", "connection gone, unknown to the client"},
	{regexp.MustCompile("╳"), "╳", "crash"},
	{regexp.MustCompile("┊"), "┊", "dead, unknown to the broker"},
	{regexp.MustCompile("[0-9]:A"), "1:A", "slot 1 exists"},
	{regexp.MustCompile("[0-9]:–"), "1:–", "it does not"},
	{regexp.MustCompile("B←c"), "B←c1", "c1's connection holds it"},
	{regexp.MustCompile("held←c"), "held←c1", "by c1's connection"},
	{regexp.MustCompile("←c[0-9]+†"), "†", "a connection that c1 does not use any more"},
	{regexp.MustCompile("[0-9]:(A )?B( |\n)"), "B", "nobody's exclusively"},
}

// offBroker replaces the meanings of marks that differ if the server is not a message broker, for example Redis.
var offBroker = map[string]string{"┊": "dead, unknown to the server", "B←c1": "c1 holds it", "held←c1": "by c1"}

// legend explains the marks that occur in a drawn text. Its sentences use the given words for the server.
func legend(drawn string, w lock.Words, s style.Style) []style.Line {
	var items []string
	for _, sign := range signs {
		if !sign.find.MatchString(drawn) {
			continue
		}
		meaning := sign.meaning
		if other, ok := offBroker[sign.mark]; ok && w.OffBroker() {
			meaning = other
		}
		items = append(items, sign.mark+" "+meaning)
	}
	var out []style.Line
	for _, text := range style.Fill(style.List(items), " ", s.Columns()) {
		out = append(out, style.Line{style.Dim.Of(text)})
	}
	return out
}
