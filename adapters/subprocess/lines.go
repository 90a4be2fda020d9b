package subprocess

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// MaxLine is how long a line may be that a client prints, in bytes.
const MaxLine = 64 << 10

// errFlood is a line that does not end.
var errFlood = fmt.Errorf("printed a line of more than %d bytes: expected one JSON-RPC answer a line", MaxLine)

// lineReader reads lines of at most MaxLine bytes. It needs no more memory than that, whatever comes.
type lineReader struct{ *bufio.Reader }

func newLineReader(r io.Reader) lineReader { return lineReader{bufio.NewReaderSize(r, MaxLine+1)} }

// next is the next line without its end, valid until the next call. Text after the last line's end is no line: the program
// died while it printed.
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
