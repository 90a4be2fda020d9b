package histories

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/model/history"
)

// TestSameWords: JSON accepts every word that EDN accepts, with the same meaning. This holds for lines with a header,
// lines without, and arrays.
func TestSameWords(t *testing.T) {
	type pair struct{ edn, json string } // fields of an answer besides type, process and f
	var all []pair
	calls := make(map[int]string)
	add := func(call, edn, json string) {
		calls[len(all)] = call
		all = append(all, pair{edn, json})
	}
	for _, word := range slices.Sorted(maps.Keys(fs.values)) {
		if op := fs.values[word].f.Op(); fs.values[word].f < history.Crash && op.String() != "unknown" {
			add(word, `:value {:slot 1, :slots 2, :held true}`, `"value":{"slot":1,"slots":2,"held":true}`)
		}
	}
	for _, word := range reasons.list {
		add("acquire", ":error :"+word.text, `"error":"`+word.text+`"`)
	}
	for word := range reasons.values {
		add("acquire", ":error :"+word, `"error":"`+word+`"`)
	}
	add("acquire", ":error :a-reason-of-its-own", `"error":"a-reason-of-its-own"`)
	add("acquire", `:error [:timeout "x"]`, `"error":["timeout","x"]`)
	for _, value := range []string{"slot 3", "slots 2", "permits 2", "mode read", "mode write", "mode shared", "mode exclusive", "priority 4", "held true",
		"held false", "token 5", "fence 6", "fence 0", "client a"} {
		word, of, _ := strings.Cut(value, " ")
		edn, json := of, of
		if strings.Trim(of, "0123456789") != "" && of != "true" && of != "false" {
			edn, json = ":"+of, `"`+of+`"`
		}
		add("acquire", fmt.Sprintf(":value {:%s %s}", word, edn), fmt.Sprintf(`"value":{%q:%s}`, word, json))
	}
	for _, value := range []string{"true", "false"} {
		add("verify", ":value "+value, `"value":`+value)
	}
	add("acquire", ":value nil, :index 9, :time 7, :lock :lock", `"value":null,"index":9,"time":7,"lock":"lock"`)
	const header = `{"lockproof":"history","version":1,"kind":"mutex","locks":[{"name":"lock","slots":1}]}` + "\n"
	for i, p := range all {
		for _, how := range types.list {
			if how.value == history.Invoke {
				continue
			}
			f := calls[i]
			edn := fmt.Sprintf("{:type :invoke, :process 1, :f :%s, :value {:slots 2, :slot 1}}\n{:type :%s, :process 1, :f :%s, %s}", f, how.text, f, p.edn)
			lines := [2]string{
				fmt.Sprintf(`{"type":"invoke","process":1,"f":%q,"value":{"slots":2,"slot":1}}`, f),
				fmt.Sprintf(`{"type":%q,"process":1,"f":%q,%s}`, how.text, f, p.json),
			}
			want, wantErr := wordsRead(edn)
			for name, text := range map[string]string{
				"lines": lines[0] + "\n" + lines[1], "with a header": header + lines[0] + "\n" + lines[1], "an array": "[" + lines[0] + "," + lines[1] + "]",
			} {
				if got, err := wordsRead(text); got != want || (err == nil) != (wantErr == nil) {
					t.Errorf("%s, %s\nreads %s (%v)\n%s\nreads %s (%v)", name, text, got, err, edn, want, wantErr)
				}
			}
		}
	}
}

// wordsRead reads a history, and returns its events and notes as text.
func wordsRead(text string) (string, error) {
	h, notes, err := ReadHistory(strings.NewReader(text), "a", Unnamed)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%+v %+v", h.Events, notes), nil
}
