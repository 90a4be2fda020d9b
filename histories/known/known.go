// Package known reads and writes the file of known violations, which a project accepts for a while. The file is next to
// the project's code.
package known

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/lockproof/lockproof/histories/infile"
	"github.com/lockproof/lockproof/histories/outfile"
)

// FileName is the name of the file with known violations, in the folder where a run starts.
const FileName = "lockproof.known.yaml"

// The bounds of the file with known violations.
const (
	maxKnown      = 1 << 20 // bytes
	mostKnown     = 1000    // number of findings
	longestReason = 1000    // bytes of one text
)

var input = infile.Input{Noun: "file of known findings", Most: maxKnown}

// Finding is a violation that the project knows and accepts.
type Finding struct {
	Property    string
	Fingerprint string // fingerprint of the violation's counterexample
	Reason      string // the reason why the violation is accepted
	Owner       string // the person or team that takes care of the violation; may be empty
	Expires     string // last day, in UTC, on which the violation is accepted, such as 2027-01-31; "" is no limit
}

// Expired reports whether the finding's last day is over, so that the violation counts as a failure again.
func (f *Finding) Expired(now time.Time) bool {
	return f.Expires != "" && now.UTC().Format(time.DateOnly) > f.Expires
}

// Findings are the known violations in a file.
type Findings []Finding

// Of is the finding on a property with this fingerprint; nil if there is none.
func (fs Findings) Of(property, fingerprint string) *Finding {
	i := slices.IndexFunc(fs, func(f Finding) bool { return f.Property == property && f.Fingerprint == fingerprint })
	if i < 0 {
		return nil
	}
	return &fs[i]
}

// Names reports whether the file has a finding on a property.
func (fs Findings) Names(property string) bool {
	return slices.ContainsFunc(fs, func(f Finding) bool { return f.Property == property })
}

// Load reads the findings from a file. A missing file has none.
func Load(path string) (Findings, error) {
	data, err := input.Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return Parse(path, data)
}

// Parse reads findings from the content of a file. Errors name the path and the line.
func Parse(path string, data []byte) (Findings, error) {
	top, err := parse(path, data)
	if top == nil || err != nil {
		return nil, err
	}
	var all Findings
	for _, node := range top.Content {
		f, err := finding(node)
		if err == nil && all.Of(f.Property, f.Fingerprint) != nil {
			err = fmt.Errorf("%s with fingerprint %s is there twice", f.Property, f.Fingerprint)
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, node.Line, err)
		}
		all = append(all, f)
	}
	return all, nil
}

// parse returns the list of findings as a YAML node; nil if the file is empty.
func parse(path string, data []byte) (*yaml.Node, error) {
	if len(data) > maxKnown {
		return nil, fmt.Errorf("%s: more than %d bytes: expected known findings", path, maxKnown)
	}
	var document, another yaml.Node
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	err := decoder.Decode(&document)
	if errors.Is(err, io.EOF) {
		return nil, nil
	}
	if err == nil && !errors.Is(decoder.Decode(&another), io.EOF) {
		err = errors.New("expected one document")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %s", path, strings.Join(strings.Fields(err.Error()), " "))
	}
	top := document.Content[0]
	switch {
	case top.Kind == yaml.ScalarNode && top.Tag == "!!null":
		return nil, nil
	case top.Kind != yaml.SequenceNode:
		return nil, fmt.Errorf("%s:%d: expected a list of findings, each with property, fingerprint and reason", path, top.Line)
	case len(top.Content) > mostKnown:
		return nil, fmt.Errorf("%s: %d findings, expected at most %d", path, len(top.Content), mostKnown)
	}
	return top, nil
}

// fields maps the YAML keys of a finding to its fields.
func (f *Finding) fields() map[string]*string {
	return map[string]*string{"property": &f.Property, "fingerprint": &f.Fingerprint, "reason": &f.Reason, "owner": &f.Owner, "expires": &f.Expires}
}

// finding reads one finding from its YAML node.
func finding(node *yaml.Node) (f Finding, err error) {
	if node.Kind != yaml.MappingNode {
		return f, errors.New("expected a finding with property, fingerprint and reason")
	}
	fields := f.fields()
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		field := fields[key.Value]
		switch {
		case field == nil:
			return f, fmt.Errorf("key %q is not known: expected property, fingerprint, reason, owner or expires", key.Value)
		case *field != "":
			return f, fmt.Errorf("%s is there twice", key.Value)
		case value.Kind != yaml.ScalarNode || value.Tag == "!!null":
			return f, fmt.Errorf("%s: expected a text", key.Value)
		}
		*field = value.Value
	}
	return f, f.Check()
}

// digits matches a fingerprint: sixteen hexadecimal digits.
var digits = regexp.MustCompile(`^[0-9a-f]{16}$`)

// Check reports what is wrong with a finding, such as a missing reason.
func (f *Finding) Check() error {
	for _, name := range []string{"property", "fingerprint", "reason", "owner", "expires"} {
		if text := *f.fields()[name]; len(text) > longestReason || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' }) {
			return fmt.Errorf("%s: expected one line of at most %d bytes", name, longestReason)
		}
	}
	switch _, err := time.Parse(time.DateOnly, f.Expires); {
	case f.Property == "":
		return errors.New("expected a property")
	case !digits.MatchString(f.Fingerprint):
		return fmt.Errorf("fingerprint %q: expected sixteen hexadecimal digits, as lockproof accept writes them", f.Fingerprint)
	case strings.TrimSpace(f.Reason) == "":
		return errors.New("expected a reason")
	case f.Expires != "" && err != nil:
		return fmt.Errorf("expires %q: expected a day, such as 2027-01-31", f.Expires)
	}
	return nil
}

// head is the comment at the beginning of a new file.
const head = "# Violations that are known and no failure until they expire: `lockproof accept FILE --reason TEXT` adds one.\n"

// Accept adds a finding to the file at a place. It replaces a finding with the same property and fingerprint.
// Everything else stays, including comments.
func Accept(at outfile.Place, f Finding) error {
	if err := f.Check(); err != nil {
		return err
	}
	data, err := input.Read(at.Path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if errors.Is(err, fs.ErrNotExist) {
		data = []byte(head)
	}
	all, err := Parse(at.Path, data)
	if err != nil {
		return err
	}
	written, err := added(at.Path, data, all, f)
	if err != nil {
		return err
	}
	if _, err := Parse(at.Path, written); err != nil { // the new file must also satisfy the bounds
		return err
	}
	return at.Write(func(w io.Writer) error { _, err := w.Write(written); return err })
}

// added returns the content of a file with a finding added or replaced.
func added(path string, data []byte, all Findings, f Finding) ([]byte, error) {
	var entry yaml.Node
	for _, name := range []string{"property", "fingerprint", "reason", "owner", "expires"} {
		if text := *f.fields()[name]; text != "" {
			entry.Content = append(entry.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: name}, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text})
		}
	}
	entry.Kind = yaml.MappingNode
	top, err := parse(path, data)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(all, func(known Finding) bool { return known.Property == f.Property && known.Fingerprint == f.Fingerprint })
	if i < 0 {
		text, err := encoded(&yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{&entry}})
		whole := slices.Concat(data, []byte("\n"), text)
		if len(data) == 0 || data[len(data)-1] == '\n' {
			whole = slices.Concat(data, text)
		}
		if _, broken := Parse(path, whole); broken == nil || top == nil {
			return whole, err
		}
		top.Content, top.Style = append(top.Content, &entry), 0 // style 0 removes the brackets of an empty list
		return encoded(top)
	}
	entry.HeadComment, entry.FootComment = top.Content[i].HeadComment, top.Content[i].FootComment
	top.Content[i] = &entry
	return encoded(top)
}

// encoded returns a list of findings as the content of a file in YAML.
func encoded(list *yaml.Node) ([]byte, error) {
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	err := errors.Join(e.Encode(list), e.Close())
	return b.Bytes(), err
}
