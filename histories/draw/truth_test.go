package draw_test

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/histories/draw"
	"github.com/lockproof/lockproof/model/backend"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/monitor"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
)

// TestSentences reads the sentences about every violation in random executions of every target. It checks that the
// execution confirms each statement in them.
func TestSentences(t *testing.T) {
	used := make(map[string]int)
	for _, b := range lock.Backends() {
		for _, target := range b.Targets() {
			source := sim.NewSource(sim.Space{Target: target}, 7)
			for i := range 40 {
				var r sim.Runner
				drawn := source.Scenario(i)
				trace := r.Trace(target, &drawn, property.FailedAcquire(i%2))
				for _, v := range trace.Violations {
					for what, text := range map[string]string{
						"explanation": v.Explain(), "cause": draw.Cause(trace, v), "expected": draw.Expected(trace, v),
					} {
						s := said{Trace: trace, v: v, target: target, text: text, used: used}
						if wrong := s.wrong(); wrong != "" {
							t.Errorf("%s, execution %d, %s, %s: %q: %s", target.Name, i, v.Property, what, text, wrong)
						}
					}
				}
			}
		}
	}
	for _, c := range claims {
		if used[c.pattern.String()] == 0 {
			t.Errorf("no sentence says %s", c.pattern)
		}
	}
}

// said is a sentence about a violation in an execution.
type said struct {
	*scenario.Trace
	v      scenario.Violation
	target *lock.Target
	text   string
	used   map[string]int
}

// claim is a pattern of statements in sentences, and a function that reports whether the execution confirms such a
// statement. of are the groups of the pattern.
type claim struct {
	pattern *regexp.Regexp
	true    func(s *said, of []string) bool
}

var claims = []claim{
	{regexp.MustCompile(`step (\d+)`), func(s *said, of []string) bool {
		return number(of[1]) >= 1 && number(of[1]) <= len(s.Steps)+1 // the end of the execution is one step more
	}},
	{regexp.MustCompile(`step (\d+) \((\S[^()]* → [^()]*?)\)`), func(s *said, of []string) bool {
		return s.exchanged(number(of[1]), of[2])
	}},
	{regexp.MustCompile(`(?:relied on|ended with|up to) (.* → .*?) at step (\d+)`), func(s *said, of []string) bool {
		return s.exchanged(number(of[2]), of[1])
	}},
	{regexp.MustCompile(`c(\d+) was refused at step (\d+)`), func(s *said, of []string) bool {
		x := &s.Steps[number(of[2])-1]
		return int(x.Action.Client) == number(of[1]) && (x.Exchange.Result == backend.Refused || x.Exchange.Result == backend.Denied)
	}},
	{regexp.MustCompile(`slots? ([\d, and]+) (?:was|were) free all the while`), func(s *said, of []string) bool {
		return s.throughout(func(i int) bool { return !s.believed(of[1], i) })
	}},
	{regexp.MustCompile(`gets slot ([\d, or]*)`), func(s *said, of []string) bool {
		return of[1] != "" && s.throughout(func(i int) bool { return s.free(of[1], i) })
	}},
	{regexp.MustCompile(`c(\d+) had it: it was granted at step (\d+)`), func(s *said, of []string) bool {
		return slices.ContainsFunc(s.eventsOf(number(of[2])), func(e history.Event) bool {
			return history.ClientOf(e.Process, s.Clients()) == number(of[1]) && e.F.Op() == lock.Acquire && e.Type == history.OK && e.Held
		})
	}},
	{regexp.MustCompile(`asked the broker nothing`), func(s *said, _ []string) bool {
		return s.throughout(func(i int) bool {
			return i == 0 || int(s.Steps[i].Action.Client) != s.client() || s.Steps[i].Command == ""
		})
	}},
	{regexp.MustCompile(`(?:made|deleted) slot (\d+) at step (\d+)`), func(s *said, of []string) bool {
		at := number(of[2]) - 1
		return (s.before(at).Exists^s.Steps[at].Truth[s.v.Lock].Exists)>>number(of[1])&1 == 1
	}},
	{regexp.MustCompile(`makes the (?:lowest slot|(\d+) lowest slots) that (?:is|are) missing`), func(s *said, of []string) bool {
		return !s.madeLowest(max(1, number(of[1])))
	}},
	{regexp.MustCompile(`broker|queue|channel|connection`), func(s *said, _ []string) bool {
		return !lock.WordsOf(s.target.Name, s.Scenario.Server).OffBroker()
	}},
	{regexp.MustCompile(`(?:^|\W)slots?(?:$|\W)`), func(s *said, _ []string) bool { return s.target.Kind == lock.Semaphore }},
}

// broken finds errors of grammar in a sentence, such as two blanks or "slot .".
var broken = regexp.MustCompile(`slot \.|deleted no slot|  |\.\.$|%!`)

// wrong names a statement of the sentence that the execution contradicts; "" if there is none.
func (s *said) wrong() string {
	if at := broken.FindString(s.text); at != "" {
		return fmt.Sprintf("%q is no part of a sentence", at)
	}
	for _, c := range claims {
		for _, of := range c.pattern.FindAllStringSubmatch(s.text, -1) {
			s.used[c.pattern.String()]++
			if !c.true(s, of) {
				return fmt.Sprintf("%q is not so", of[0])
			}
		}
	}
	return ""
}

func number(digits string) int { n, _ := strconv.Atoi(digits); return n }

// numbers reads the numbers from a list such as "1, 2 and 4".
func numbers(list string) (all []int) {
	for _, digits := range regexp.MustCompile(`\d+`).FindAllString(list, -1) {
		all = append(all, number(digits))
	}
	return all
}

// exchanged reports whether a step, counted from 1, has the given command and reply.
func (s *said) exchanged(step int, exchange string) bool {
	x := &s.Steps[step-1]
	return strings.HasPrefix(strings.TrimSuffix(exchange, ", which did not reach it"), x.Command) && strings.Contains(exchange, x.Reply)
}

func (s *said) eventsOf(step int) []history.Event {
	x := &s.Steps[step-1]
	return s.History.Events[x.First : x.First+x.Events]
}

// client is the number of the first client that the sentence names.
func (s *said) client() int {
	of := regexp.MustCompile(`c(\d+)`).FindStringSubmatch(s.text)
	return number(of[1])
}

// throughout reports whether a condition holds before each step of the client's call, up to the step that shows the
// violation.
func (s *said) throughout(is func(i int) bool) bool {
	for i := min(s.v.Step, len(s.Steps)-1); i >= 0; i-- {
		if !is(i) {
			return false
		}
		if slices.ContainsFunc(s.eventsOf(i+1), func(e history.Event) bool {
			return history.ClientOf(e.Process, s.Clients()) == s.client() && e.Type == history.Invoke
		}) {
			return true
		}
	}
	return true
}

// before is the server's state of the lock before a step, counted from 0.
func (s *said) before(i int) *monitor.Truth {
	if i == 0 {
		return &s.Setup[len(s.Setup)-1].Truth[s.v.Lock]
	}
	return &s.Steps[i-1].Truth[s.v.Lock]
}

// free reports whether all slots in a list, such as "1 or 2", are free on the server before a step, counted from 0.
func (s *said) free(list string, i int) bool {
	return !slices.ContainsFunc(numbers(list), func(slot int) bool { return s.before(i).Free()>>slot&1 == 0 })
}

// believed reports whether some client certainly believes, before a step, that it holds one of the slots in a list.
func (s *said) believed(list string, i int) bool {
	held := make(map[int32]int)
	for _, e := range s.History.Events[:s.Steps[i].First] {
		switch {
		case int(e.Lock) != int(s.v.Lock) && e.Process != history.Nemesis:
		case e.F == history.Restart:
			clear(held)
		case e.Process == history.Nemesis:
			delete(held, e.Target)
		case e.F.Op() == lock.Acquire && e.Type == history.OK && e.Held:
			held[e.Process] = int(e.Slot)
		case e.F.Op() == lock.Release, e.F.Op() == lock.Verify && !(e.Type == history.OK && e.Held):
			delete(held, e.Process)
		}
	}
	for _, slot := range held {
		if slices.Contains(numbers(list), slot) {
			return true
		}
	}
	return false
}

// madeLowest reports whether the call made exactly the n lowest slots that were missing when it began.
func (s *said) madeLowest(n int) bool {
	end := min(s.v.Step, len(s.Steps)-1)
	began, deleted := end, false
	s.throughout(func(i int) bool { began = i; return true })
	want := s.before(began).Exists
	for slot := 1; n > 0; slot++ {
		if want>>slot&1 == 0 {
			want |= 1 << slot
			n--
		}
	}
	for i := began; i <= end; i++ {
		deleted = deleted || s.before(i).Exists&^s.Steps[i].Truth[s.v.Lock].Exists != 0
	}
	return !deleted && s.Steps[end].Truth[s.v.Lock].Exists == want
}
