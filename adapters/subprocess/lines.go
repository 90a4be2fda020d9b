package subprocess

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// MaxLine is the maximum length of a line that a client prints, in bytes.
const MaxLine = 64 << 10

// errFlood is the error for a line that exceeds MaxLine.
var errFlood = fmt.Errorf("printed a line of more than %d bytes: expected one JSON-RPC answer a line", MaxLine)

// lineReader reads lines of at most MaxLine bytes. Its memory is bounded, whatever it reads.
type lineReader struct{ *bufio.Reader }

func newLineReader(r io.Reader) lineReader { return lineReader{bufio.NewReaderSize(r, MaxLine+1)} }

// next is the next line without its end, valid until the next call. Text after the end of the last line is ignored: the
// program died while it was printing.
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
