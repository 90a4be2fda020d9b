package subprocess

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// MaxLine is the maximum length of a line that a client prints, in bytes.
const MaxLine = 64 << 10

// errFlood is the error for a line that is longer than MaxLine.
var errFlood = fmt.Errorf("printed a line of more than %d bytes: expected one JSON-RPC answer a line", MaxLine)

// lineReader reads lines of at most MaxLine bytes. It uses little memory even if a line does not end.
type lineReader struct{ *bufio.Reader }

func newLineReader(r io.Reader) lineReader { return lineReader{bufio.NewReaderSize(r, MaxLine+1)} }

// next returns the next line without its end. The line is valid until the next call. It ignores text after the last
// line end: the program died while it was printing.
func (r lineReader) next() ([]byte, error) {
	line, err := r.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return nil, errFlood
	case err != nil:
		return nil, err
	}
	line = line[:len(line)-1]
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	return line, nil
}
