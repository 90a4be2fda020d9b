package plugin

import (
	"bytes"
	"fmt"

	"github.com/lockproof/lockproof/adapters/redis/resp"
)

// readCommand parses the first command of b. n is its length in bytes, 0 if it is incomplete. A command is an array
// of strings or an inline command, which is a line of words.
func readCommand(b []byte) (words []string, n int, err error) {
	if b[0] != '*' {
		return readInline(b)
	}
	v, n, err := resp.Read(b)
	if err != nil || n == 0 {
		return nil, 0, err
	}
	for _, item := range v.Items {
		if item.Kind != '$' || item.Null {
			return nil, 0, fmt.Errorf("%w: a command has an element that is no string", resp.ErrProtocol)
		}
		words = append(words, string(item.Text))
	}
	return words, n, nil
}

// longestInline is the maximum length of an inline command, in bytes.
const longestInline = 1 << 16

// mostQuoted is the number of bytes that an error quotes of input that is not RESP.
const mostQuoted = 8

func readInline(b []byte) (words []string, n int, err error) {
	i := bytes.IndexByte(b, '\n')
	line := b
	if i >= 0 {
		line = b[:i]
	}
	for _, c := range line {
		if c < ' ' && c != '\r' && c != '\t' {
			return nil, 0, fmt.Errorf("%w: a line that begins with %q", resp.ErrProtocol, line[:min(len(line), mostQuoted)])
		}
	}
	switch {
	case i >= 0:
	case len(line) > longestInline:
		return nil, 0, fmt.Errorf("%w: a line of more than %d bytes", resp.ErrProtocol, longestInline)
	default:
		return nil, 0, nil
	}
	for _, w := range bytes.Fields(b[:i]) {
		words = append(words, string(w))
	}
	return words, i + 1, nil
}
