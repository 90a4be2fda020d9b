package histories_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/lockproof/lockproof/internal/pinned"
)

// numbers are numbers near the bounds of fields, and malformed numbers.
var numbers = []string{
	"-9223372036854775809", "-9223372036854775808", "-1", "-0", "0", "1", "2", "3", "7", "8", "9", "10", "11", "12", "15", "16", "17", "31", "32", "50", "51", "63", "64",
	"99", "100", "101", "127", "128", "254", "255", "256", "999", "1000", "1001", "4095", "4096", "9999", "10000", "10001", "32767", "32768", "65534", "65535", "65536",
	"1000000", "1000001", "16777214", "16777215", "16777216", "2147483646", "2147483647", "2147483648", "4294967295", "4294967296", "9223372036854775807", "9223372036854775808", "1.5", "1e2", "01", "+1", "2N", "--1", "1-", "1]", "1}", "1:", "1[", "1{", "1\"", "1;", "1^", "1~",
}

// jsonValues are other JSON values than numbers, some of them malformed.
var jsonValues = []string{
	"null", "true", "false", "tru", "truex", `""`, `"jobs"`, `"lock"`, `"other"`, `"acquire"`, `"verify"`, `"count"`, `"crash"`, `"other"`, `"invoke"`, `"ok"`, `"fail"`, `"info"`, `"full"`, `"timed out"`,
	`"gave up"`, `"gave-up"`, `"removed"`, `"nemesis"`, `"a\u0062"`, `"a\"b"`, `"a\\"`, `"é"`, `"\ud800"`, `"a`, `'a'`, `"` + "\t" + `"`, `{}`, `[]`, `[1]`, `{"slot":1}`, `{"slot":1,"held":true}`, `{"held":false}`,
	`{"slots":2}`, `{"client":1}`, `{"client":-1}`, `{"priority":1}`, `{"priority":255}`, `{"priority":256}`, `{"token":1}`, `{"token":0}`, `{"token":9007199254740992}`, `{"slot":65535}`, `{"slot":65536}`, `{"slot":1,}`, `{"slot":1 "held":true}`, `{,}`, `{"held":1}`,
	`{"else":1}`, `{"slot"}`, `{"slot":}`, `{"slot":1,"slot":2}`, "", " 1 ", "\t1\r", "1 2",
}

// ednValues are other EDN values than numbers, some of them malformed.
var ednValues = []string{
	"nil", "true", "false", `""`, `"jobs"`, `"acquire"`, ":jobs", ":other", ":acquire", ":verify", ":count", ":lock", ":unlock", ":crash", ":lockproof/crash", ":lockproof/gone", ":lockproof/none",
	":lockproof/restart", ":lockproof/other", ":invoke", ":ok", ":fail", ":info", ":full", ":timeout", ":gave-up", "[:full 1]", "[]", "(:timeout)", "#{:full}", "[[1] {2 3}]", ":nemesis", "nemesis", `\a`, `\"`, `\(`,
	`"a\nb\tc\rd\be\ff\\\"\q"`, `"a`, "{}", "{:slot 1}", "{:slot 1, :held true}", "{:held false}", "{:held nil}", "{:held 1}", "{:slots 3}", "{:priority 0}", "{:priority -1}", "{:priority 255}", "{:priority 256}", "{:token 7}", "{:token 0}", "{:token 9007199254740992}",
	"{:priority 1.5}", "{:slot -1}", "{:slot 65535}", "{:slot 65536}", "{:slot nil}", "{:slots -1}", "{:client 1}", "{:client -1}", "{:client 2147483647}", "{:client x}", "{:client 1 :client 2}", "{:slot}", "{:else 1}",
	"#inst \"2026\"", "#'var", "##NaN", "#_ 1 2", "^:meta 3", "^{:a 1} :ok", `#"x"`, "; note\n 1", "#", "^", "#_", "]", ")", "}", "1 :slot 2", "1,,,", "\f1\v", "1/2", "-", "+", "-a", ":", "1N2",
}

// TestPinnedFields reads events with many values in each field, and compares the results with a file. The values
// include numbers near the bounds, and every kind of JSON and EDN value.
func TestPinnedFields(t *testing.T) {
	f := pinned.New(t)
	fields := []string{"index", "time", "type", "process", "f", "lock", "value", "error", "extra"}
	for _, form := range []struct {
		name, field, between, open, closing string
		values                              []string
		usual                               [2]map[string]string
	}{
		{"jsonl", `"%s":%s`, ",", "{", "}", slices.Concat(numbers, jsonValues), [2]map[string]string{
			{"index": "0", "time": "5", "type": `"invoke"`, "process": "1", "f": `"verify"`},
			{"index": "1", "time": "6", "type": `"info"`, "process": `"nemesis"`, "f": `"crash"`, "value": `{"client":1}`},
		}},
		{"edn", ":%s %s", ", ", "{", "}", slices.Concat(numbers, ednValues), [2]map[string]string{
			{"index": "0", "time": "5", "type": ":invoke", "process": "1", "f": ":verify"},
			{"index": "1", "time": "6", "type": ":info", "process": ":nemesis", "f": ":lockproof/crash", "value": "{:client 1}"},
		}},
	} {
		for n, usual := range form.usual {
			for _, field := range fields {
				f.Block(fmt.Sprintf("%s %d, %s", form.name, n, field), len(form.values), func(i int, s *pinned.Seen) {
					text := ""
					for _, one := range form.usual[:n] {
						text += event(form.field, form.between, fields, one, "", "")
					}
					text += event(form.field, form.between, fields, usual, field, form.values[i])
					outcome := read(s, form.name, []byte(text), rand.New(rand.NewPCG(1, uint64(i))))
					s.Same(quoted(form.values[i]), withoutValue(outcome, form.values[i]))
				})
			}
		}
	}
	containers(f)
	depths(f)
	f.Compare("testdata/fields.txt")
}

// withoutValue replaces the found text in an error by "it", if value begins with that text. Errors that differ only in
// the found value then become equal.
func withoutValue(outcome, value string) string {
	before, rest, ok := strings.Cut(outcome, "found ")
	if found, _, ok := strings.Cut(rest, ", expected"); ok && found != "" && strings.HasPrefix(value, strings.TrimSuffix(found, "…")) {
		rest = "it" + rest[len(found):]
	}
	if !ok {
		return outcome
	}
	return before + "found " + rest
}

// quoted is a value as the file of results has it: quoted, unless it is simple.
func quoted(value string) string {
	if q := strconv.Quote(value); value == "" || strings.Contains(value, " ") || len(q) != len(value)+2+strings.Count(value, `"`)+strings.Count(value, `\\`) {
		return q
	}
	return value
}

// event writes an event in a form. One of its fields, other, has an unusual value.
func event(field, between string, order []string, usual map[string]string, other, value string) string {
	var parts []string
	for _, name := range order {
		v, ok := usual[name]
		if name == other {
			v, ok = value, true
		}
		if ok {
			parts = append(parts, fmt.Sprintf(field, name, v))
		}
	}
	return "{" + strings.Join(parts, between) + "}\n"
}

// containers reads EDN events with all combinations of brackets, tags and comments around them.
func containers(f *pinned.File) {
	const one = "{:process 1, :type :invoke, :f :acquire}"
	parts := []string{"[", "]", "(", ")", one, "#_", ";[\n", ",", "#jepsen.history.Op", "^a", "}", "{", "x"}
	f.Block("containers", len(parts)*len(parts)*len(parts)*3, func(i int, s *pinned.Seen) {
		n := len(parts)
		text := [][]string{{parts[i%n], parts[i/n%n], parts[i/n/n%n]}, {parts[i%n], one, parts[i/n%n], parts[i/n/n%n]}, {parts[i%n], parts[i/n%n], one, parts[i/n/n%n]}}[i/n/n/n]
		s.Printf("%s", read(s, "edn", []byte(strings.Join(text, " ")), rand.New(rand.NewPCG(2, uint64(i)))))
	})
}

// depths reads values that are nested nearly as deep as allowed, and a little deeper.
func depths(f *pinned.File) {
	pairs := [][2]string{{"[", "]"}, {"(", ")"}, {"{:a ", "}"}, {"#{", "}"}, {"#_ ", " 1"}, {"#tag ", ""}, {"^:m ", ""}, {"^ ", " 1"}, {"[#_", " 1]"}}
	f.Block("depths", len(pairs)*8*2, func(i int, s *pinned.Seen) {
		pair, deep := pairs[i%len(pairs)], 60+i/len(pairs)%8
		value := strings.Repeat(pair[0], deep) + "1" + strings.Repeat(pair[1], deep)
		text := "{:process 1, :type :invoke, :f :acquire, :value " + value + "}"
		if i/len(pairs) >= 8 {
			text = value + " {:process 1, :type :invoke, :f :acquire}"
		}
		s.Same(fmt.Sprint(i), read(s, "edn", []byte(text), rand.New(rand.NewPCG(2, uint64(i)))))
	})
}

// TestPinnedCounterexampleFields reads counterexamples in which one value is replaced by another, or is missing, and
// compares the results with a file. Places that differ only in an index are written to the file once.
func TestPinnedCounterexampleFields(t *testing.T) {
	f := pinned.New(t)
	values := slices.Concat(numbers[:len(numbers)-16], []string{"null", "true", `""`, `"jobs"`, `"semaphore"`, `"mutex"`, `"acquire"`, `"strong"`, `"no-leak"`, `"x"`, "{}", "[]", "[1]", `["a"]`, `{"a":"b"}`, "1.5"})
	index, first := regexp.MustCompile("/[0-9]+"), make(map[string]string)
	for _, n := range []int{2, 5, 13, 14} {
		text := written(t, "counterexample", n)
		paths := leaves(text)
		f.Block(fmt.Sprintf("counterexample %d", n), len(paths)*(len(values)+1), func(i int, s *pinned.Seen) {
			at, with := paths[i/(len(values)+1)], i%(len(values)+1)
			value, name := "", "none"
			if with < len(values) {
				value, name = values[with], quoted(values[with])
			}
			outcome := read(s, "counterexample", replaced(t, text, at, value), nil)
			if strings.HasPrefix(outcome, "read") {
				outcome = string(at) + ": " + outcome
			}
			path, place := index.ReplaceAllString(string(at), "/n"), fmt.Sprint(n, at)
			if one, ok := first[path]; ok && one != place {
				s.Printf("%s", outcome)
				return
			}
			first[path] = place
			s.Same(name, withoutValue(outcome, value))
		})
	}
	f.Compare("testdata/counterexample-fields.txt")
}

// leaves are the JSON pointers to the values of a document. An array has pointers only to its first two items and its
// last.
func leaves(text []byte) (paths []jsontext.Pointer) {
	var walk func(at jsontext.Pointer, v any)
	walk = func(at jsontext.Pointer, v any) {
		if at != "" {
			paths = append(paths, at)
		}
		switch v := v.(type) {
		case map[string]any:
			for _, k := range slices.Sorted(maps.Keys(v)) {
				walk(at.AppendToken(k), v[k])
			}
		case []any:
			for i := range v {
				if i < 2 || i == len(v)-1 {
					walk(at.AppendToken(fmt.Sprint(i)), v[i])
				}
			}
		}
	}
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		panic(err)
	}
	walk("", v)
	return paths
}

// replaced is a JSON document with another value at a place. "" removes the value.
func replaced(t *testing.T, text []byte, at jsontext.Pointer, value string) []byte {
	var doc any
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	var edit func(v any, tokens []string) any
	edit = func(v any, tokens []string) any {
		if len(tokens) == 0 {
			return jsontext.Value(value)
		}
		switch v := v.(type) {
		case map[string]any:
			if v[tokens[0]] = edit(v[tokens[0]], tokens[1:]); len(tokens) == 1 && value == "" {
				delete(v, tokens[0])
			}
		case []any:
			var i int
			fmt.Sscan(tokens[0], &i)
			if len(tokens) == 1 && value == "" {
				return slices.Delete(v, i, i+1)
			}
			v[i] = edit(v[i], tokens[1:])
		}
		return v
	}
	doc = edit(doc, slices.Collect(at.Tokens()))
	out, err := json.Marshal(doc, json.Deterministic(true))
	if err != nil {
		t.Fatal(err)
	}
	return out
}
