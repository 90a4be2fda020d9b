package frame

// PropertyFlags is a bit set of the properties that a content header contains.
type PropertyFlags uint16

// ContentHeader is the payload of a header frame.
type ContentHeader struct {
	Class      uint16
	Size       uint64 // total bytes of all body frames
	Properties Properties
}

// Content is the header and body that follow methods such as basic.publish.
type Content struct {
	Properties Properties
	Body       []byte
}

// ReadHeader reads the payload of a header frame. The result shares no memory with the payload. The error is an
// [*Error].
func ReadHeader(payload []byte) (ContentHeader, error) {
	r := reader{b: payload}
	h := ContentHeader{Class: r.short()}
	r.short() // the field weight, which AMQP does not use
	h.Size = r.longlong()
	h.Properties.Has = PropertyFlags(r.short())
	if unknown := h.Properties.Has &^ allProperties; unknown != 0 {
		return h, errorf(SyntaxError, "a content header has the unknown property flags %#x", uint16(unknown))
	}
	h.Properties.read(&r)
	if r.failed {
		return h, errorf(SyntaxError, "the properties of a content header end early or contain a bad table")
	}
	if len(r.b) > 0 {
		return h, errorf(SyntaxError, "%d bytes are left behind the properties of a content header", len(r.b))
	}
	return h, nil
}

// AppendHeader appends a header frame.
func AppendHeader(b []byte, channel uint16, h *ContentHeader) []byte {
	start := len(b)
	b = appendHead(b, FrameHeader, channel)
	b = appendShort(b, h.Class)
	b = appendShort(b, 0)
	b = appendLonglong(b, h.Size)
	b = appendShort(b, uint16(h.Properties.Has))
	return finish(h.Properties.append(b), start)
}

// AppendContent appends a header frame and body frames. Each frame has at most frameMax bytes, including its overhead.
func AppendContent(b []byte, channel uint16, c *Content, frameMax int) []byte {
	b = AppendHeader(b, channel, &ContentHeader{Class: ContentClass, Size: uint64(len(c.Body)), Properties: c.Properties})
	for rest, size := c.Body, max(frameMax, FrameMinSize)-Overhead; len(rest) > 0; {
		n := min(len(rest), size)
		b = Frame{Type: FrameBody, Channel: channel, Payload: rest[:n]}.Append(b)
		rest = rest[n:]
	}
	return b
}
