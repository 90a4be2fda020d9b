package histories

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/lockproof/lockproof/histories/safetext"
)

// prettyWidth is the largest width of an output line, in characters.
const prettyWidth = 100

// Pretty formats JSON for readers. A value that fits on its line stays on one line. Otherwise, each part of the value
// has a line.
func Pretty(data []byte) ([]byte, error) {
	var b bytes.Buffer
	if err := layOutValue(&b, data, 0, 0); err != nil {
		return nil, err
	}
	b.WriteByte('\n')
	return safetext.JSON(b.Bytes()), nil
}

// layOutValue writes one value. The value begins at the given column; if it is broken, its parts are indented to the
// given depth.
func layOutValue(b *bytes.Buffer, data jsontext.Value, column, depth int) error {
	flat := data.Clone()
	if err := flat.Format(jsontext.SpaceAfterColon(true), jsontext.SpaceAfterComma(true)); err != nil {
		return err
	}
	if kind := flat.Kind(); depth > 0 && column+utf8.RuneCount(flat) <= prettyWidth || kind != '{' && kind != '[' {
		b.Write(flat)
		return nil
	}
	return layOutParts(b, data, depth)
}

// layOutParts writes an object or an array, with each of its parts on a new line.
func layOutParts(b *bytes.Buffer, data jsontext.Value, depth int) error {
	dec := jsontext.NewDecoder(bytes.NewReader(data))
	open, err := dec.ReadToken()
	if err != nil {
		return err
	}
	b.WriteString(open.String())
	margin := "\n" + strings.Repeat("  ", depth+1)
	for first := true; dec.PeekKind() != '}' && dec.PeekKind() != ']'; first = false {
		if !first {
			b.WriteByte(',')
		}
		b.WriteString(margin)
		column := len(margin)
		if open.Kind() == '{' {
			name, err := dec.ReadValue()
			if err != nil {
				return err
			}
			fmt.Fprintf(b, "%s: ", name)
			column += len(name) + len(": ")
		}
		part, err := dec.ReadValue()
		if err != nil {
			return err
		}
		if err := layOutValue(b, part, column, depth+1); err != nil {
			return err
		}
	}
	end, err := dec.ReadToken()
	b.WriteString(strings.TrimSuffix(margin, "  ") + end.String())
	return err
}
