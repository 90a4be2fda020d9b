package frame

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"slices"
)

// step is the maximum number of bytes by which the buffer grows ahead of the payload's bytes.
const step = 64 << 10

// Reader reads frames from a stream.
type Reader struct {
	// Max is the maximum size of a frame, with its overhead; 0 is MinSize, the smallest maximum that peers may agree on.
	Max int
	src *bufio.Reader
	buf []byte
}

// NewReader returns a reader of frames of at most max bytes.
func NewReader(src io.Reader, max int) *Reader {
	return &Reader{Max: max, src: bufio.NewReaderSize(src, 4096)}
}

// ReadHeader reads the protocol header: the 8 bytes that a client sends before the first frame. It does not check them.
func (r *Reader) ReadHeader() (header [8]byte, err error) {
	_, err = io.ReadFull(r.src, header[:])
	return header, err
}

// Next reads one frame. Its payload is valid until the next call. The error is [io.EOF] at the end of the stream,
// [io.ErrUnexpectedEOF] for an end within a frame, and an [*Error] for an invalid frame.
func (r *Reader) Next() (Frame, error) {
	head, err := r.src.Peek(headSize)
	if err != nil {
		if errors.Is(err, io.EOF) && len(head) > 0 {
			err = io.ErrUnexpectedEOF
		}
		return Frame{}, err
	}
	f := Frame{Type: head[0], Channel: binary.BigEndian.Uint16(head[1:])}
	size := binary.BigEndian.Uint32(head[3:])
	if err := r.check(f, size); err != nil {
		return Frame{}, err
	}
	r.src.Discard(headSize)
	if err := r.fill(int(size) + 1); err != nil {
		return Frame{}, err
	}
	if end := r.buf[size]; end != FrameEnd {
		return Frame{}, errorf(FrameError, "a frame of type %d and %d bytes ends with %d, expected %d", f.Type, size, end, FrameEnd)
	}
	f.Payload = r.buf[:size]
	return f, nil
}

// check returns an error if a frame's type, channel or size is invalid.
func (r *Reader) check(f Frame, size uint32) error {
	switch f.Type {
	case FrameMethod, FrameHeader, FrameBody, FrameHeartbeat:
	default:
		return errorf(FrameError, "frame type %d is not known", f.Type)
	}
	if limit := max(r.Max, FrameMinSize) - Overhead; uint64(size) > uint64(limit) {
		return errorf(FrameError, "a frame of type %d has %d bytes, more than the %d agreed on", f.Type, size, limit)
	}
	if f.Type == FrameHeartbeat && (size > 0 || f.Channel != 0) {
		return errorf(FrameError, "a heartbeat on channel %d with %d bytes, expected none on channel 0", f.Channel, size)
	}
	return nil
}

// fill reads n bytes into the buffer, which grows as they arrive.
func (r *Reader) fill(n int) error {
	r.buf = r.buf[:0]
	for len(r.buf) < n {
		have := len(r.buf)
		r.buf = slices.Grow(r.buf, min(n-have, step))[:min(n, have+step)]
		if _, err := io.ReadFull(r.src, r.buf[have:]); err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return err
		}
	}
	return nil
}

// Buffered is the number of bytes that have arrived and are not read yet.
func (r *Reader) Buffered() int { return r.src.Buffered() }
