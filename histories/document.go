package histories

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/lockproof/lockproof/histories/style"
	"github.com/lockproof/lockproof/model/lock"
)

// JSON is decoded by encoding/json/v2, the next version of the standard library's package. It is strict, and its errors
// say where they are.

// document is a JSON file that is read strictly.
type document struct {
	name   string
	data   []byte
	before int // number of lines before the data in the file
}

// head checks the fields with which all files of lockproof begin: the format and its version. Version 0 accepts any
// version.
func (d *document) head(format string, version int) error {
	var head struct {
		Lockproof string `json:"lockproof"`
		Version   int    `json:"version"`
	}
	if err := json.Unmarshal(d.data, &head); err != nil {
		return d.explain(err)
	}
	if head.Lockproof != format {
		return d.fail("/lockproof", fmt.Errorf("found %q, expected %q", head.Lockproof, format))
	}
	if version != 0 && head.Version != version {
		return d.fail("/version", fmt.Errorf("found version %d, expected %d", head.Version, version))
	}
	return nil
}

// server is the backend that the document's scenario names; the default is AMQP.
func (d *document) server() (*lock.Backend, error) {
	var f struct {
		Scenario struct {
			Server string `json:"server"`
		} `json:"scenario"`
	}
	if err := json.Unmarshal(d.data, &f); err != nil {
		return nil, d.explain(err)
	}
	b, err := lock.BackendNamed(f.Scenario.Server)
	if err != nil {
		return nil, d.fail("/scenario/server", err)
	}
	return b, nil
}

// ReadingOptions makes the JSON decoder read options as those of a backend's locks. Missing options get the backend's
// defaults.
func ReadingOptions(b *lock.Backend) json.Options {
	return json.WithUnmarshalers(json.UnmarshalFunc(func(data []byte, o *lock.Options) (err error) {
		*o, err = lock.ReadOptions(b.Defaults, data)
		return err
	}))
}

// decode reads the whole document into a value. An unknown field is an error.
func (d *document) decode(v any, how ...json.Options) error {
	if err := json.Unmarshal(d.data, v, append(how, json.RejectUnknownMembers(true))...); err != nil {
		return d.explain(err)
	}
	return nil
}

// fail returns an error with its place in the document.
func (d *document) fail(at jsontext.Pointer, err error) error {
	return located{d.wrong(d.locate(at), at, err.Error()), err}
}

// located is an error with its place in a document.
type located struct {
	error
	cause error
}

// Unwrap is the error without the place.
func (l located) Unwrap() error { return l.cause }

func (d *document) wrong(offset int64, at jsontext.Pointer, what string) error {
	line := d.before + 1 + bytes.Count(d.data[:min(int(offset), len(d.data))], []byte("\n"))
	where := fmt.Sprintf("%s:%d: ", style.Printable(d.name), line)
	if at != "" {
		where += style.Printable(string(at)) + ": "
	}
	what, _, _ = strings.Cut(what, "\n")
	return errors.New(where + style.Printable(what))
}

// explain turns an error of the JSON library into one line with the place in the document.
func (d *document) explain(err error) error {
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		return d.wrong(syntax.ByteOffset, syntax.JSONPointer, fmt.Sprintf("%v: expected well-formed JSON", syntax.Err))
	}
	var semantic *json.SemanticError
	if !errors.As(err, &semantic) {
		return d.wrong(0, "", err.Error())
	}
	what := ""
	switch {
	case errors.Is(semantic.Err, json.ErrUnknownName):
		what = fmt.Sprintf("unknown field, expected one of %s", strings.Join(fields(semantic.GoType), ", "))
	case semantic.Err != nil && !errors.Is(semantic.Err, strconv.ErrRange) && !errors.Is(semantic.Err, strconv.ErrSyntax):
		what = semantic.Err.Error()
	default:
		what = fmt.Sprintf("found %s, expected %s", found(semantic), expected(semantic.GoType))
	}
	return d.wrong(semantic.ByteOffset, semantic.JSONPointer, what)
}

// found describes the wrong value in the document: a short value as it is, otherwise its kind, for example "a string".
func found(e *json.SemanticError) string {
	if v := string(e.JSONValue); v != "" && len(v) < 60 {
		return v
	}
	if word, ok := map[jsontext.Kind]string{
		'n': "null", 't': "true", 'f': "false", '"': "a string", '0': "a number", '{': "an object", '[': "an array",
	}[e.JSONKind]; ok {
		return word
	}
	return "something else"
}

// expected describes the kind of value that a Go type accepts, for example "an array" or "a number from 0 to 255".
func expected(t reflect.Type) string {
	if t == nil {
		return "another kind of value"
	}
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "an array"
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Uint8, reflect.Uint16:
		return fmt.Sprintf("a number from 0 to %d", uint64(1)<<t.Bits()-1)
	}
	return "a whole number"
}

// fields are the JSON names of a struct's fields.
func fields(t reflect.Type) []string {
	var names []string
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}

// locate is the byte offset of the value at a JSON pointer, or of its nearest existing parent.
func (d *document) locate(at jsontext.Pointer) int64 {
	dec := jsontext.NewDecoder(bytes.NewReader(d.data))
	best, depth := int64(0), -1
	for {
		if _, err := dec.ReadToken(); err != nil {
			return best
		}
		p := dec.StackPointer()
		if n := len(p); n > depth && (p == at || p.Contains(at)) {
			best, depth = dec.InputOffset(), n
		}
	}
}
