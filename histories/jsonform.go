package histories

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// formOfJSON converts a JSON value to the corresponding EDN form: names of fields become keywords, and null becomes
// nil.
func formOfJSON(data []byte) (form, error) {
	d := jsontext.NewDecoder(bytes.NewReader(data))
	f, err := readForm(d, 0)
	if err != nil {
		return form{}, err
	}
	if _, err := d.ReadToken(); err != io.EOF {
		return form{}, errors.New("more than a value")
	}
	return f, nil
}

func readForm(d *jsontext.Decoder, depth int) (f form, err error) {
	t, err := d.ReadToken()
	if err != nil || depth > maxEDNDepth {
		return form{}, errors.Join(err, errDeep)
	}
	switch t.Kind() {
	case '{', '[':
		return readForms(d, t.Kind(), depth)
	case '"':
		return form{kind: textForm, text: t.String()}, nil
	case '0':
		if n, err := strconv.ParseInt(t.String(), 10, 64); err == nil {
			return form{kind: integerForm, number: n}, nil
		}
		return form{kind: numberForm, text: t.String()}, nil
	case 'n':
		return form{text: "nil"}, nil
	}
	return form{text: t.String()}, nil
}

var errDeep = errors.New("a value that does not end, or is nested too deep")

// readForms reads the elements of a JSON object or array as forms.
func readForms(d *jsontext.Decoder, kind jsontext.Kind, depth int) (form, error) {
	f := form{kind: listForm}
	if kind == '{' {
		f.kind = mapForm
	}
	for next := d.PeekKind(); next != '}' && next != ']'; next = d.PeekKind() {
		item, err := readForm(d, depth+1)
		if err != nil {
			return form{}, err
		}
		if f.kind == mapForm && len(f.items)%2 == 0 {
			item.kind = keywordForm
		}
		f.items = append(f.items, item)
	}
	_, err := d.ReadToken()
	return f, err
}

// named reports whether all keys of a map are among these keywords.
func (f *form) named(keywords []string) bool {
	for i := 0; i < len(f.items); i += 2 {
		if !slices.Contains(keywords, f.items[i].text) {
			return false
		}
	}
	return f.kind == mapForm
}
