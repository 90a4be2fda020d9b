package wire

import (
	"fmt"

	"github.com/lockproof/lockproof/adapters/amqp/wire/frame"
)

// Message is a method on a channel, with its content.
type Message struct {
	Channel uint16
	Method  frame.Method
	Content *frame.Content // nil if the method has no content
	// Verbatim is the encoded frames as they arrived; nil if the backend does not need them.
	Verbatim []byte
	// Frames and Bytes are the message's size on the wire.
	Frames, Bytes int
}

// assembler joins frames into messages, for one direction of a connection.
type assembler struct {
	keep    bool // whether to keep the original frames of a message
	limit   int  // maximum total bytes of incomplete content on all channels
	budget  *budget
	held    int
	partial map[uint16]*partial // methods with incomplete content, by channel
}

// partial is a message whose content is not complete yet.
type partial struct {
	Message
	header bool // the content header has arrived
	size   uint64
}

// add adds the next frame. It returns the message that the frame completes, or nil. The error is a [*refusal].
func (a *assembler) add(f frame.Frame) (*Message, error) {
	p := a.partial[f.Channel]
	var err error
	switch f.Type {
	case frame.FrameMethod:
		p, err = a.method(p, f)
	case frame.FrameHeader:
		err = a.header(p, f)
	default:
		err = a.body(p, f)
	}
	if err != nil {
		return nil, err
	}
	p.Frames++
	p.Bytes += len(f.Payload) + frame.Overhead
	if a.keep {
		p.Verbatim = f.Append(p.Verbatim)
	}
	if p.Content != nil && (!p.header || uint64(len(p.Content.Body)) < p.size) {
		return nil, nil
	}
	if p.Content != nil {
		a.give(len(p.Content.Body))
		delete(a.partial, f.Channel)
	}
	return &p.Message, nil
}

func (a *assembler) method(before *partial, f frame.Frame) (*partial, error) {
	switch {
	case before != nil && before.header:
		return nil, before.refuse(frame.UnexpectedFrame, "expected content body, got non content body frame instead")
	case before != nil:
		return nil, before.refuse(frame.UnexpectedFrame, "expected content header for class %d, got non content header frame instead", frame.ContentClass)
	}
	m, err := frame.ReadMethod(f.Payload)
	if err != nil {
		return nil, refused(err)
	}
	p := &partial{Message: Message{Channel: f.Channel, Method: m}}
	if m.ID().HasContent() {
		p.Content = new(frame.Content)
		if a.partial == nil {
			a.partial = make(map[uint16]*partial)
		}
		a.partial[f.Channel] = p
	}
	return p, nil
}

func (a *assembler) header(p *partial, f frame.Frame) error {
	switch {
	case p == nil:
		return &refusal{code: frame.UnexpectedFrame, text: "expected method frame, got non method frame instead"}
	case p.header:
		return p.refuse(frame.UnexpectedFrame, "expected content body, got non content body frame instead")
	}
	h, err := frame.ReadHeader(f.Payload)
	if err != nil {
		return refused(err)
	}
	if h.Class != frame.ContentClass {
		return p.refuse(frame.UnexpectedFrame, "expected content header for class %d, got one for class %d instead", frame.ContentClass, h.Class)
	}
	if h.Size > uint64(a.limit) {
		return p.refuseTooLarge("message size %d is larger than the %d bytes taken", h.Size, a.limit)
	}
	p.header, p.size, p.Content.Properties = true, h.Size, h.Properties
	return nil
}

func (a *assembler) body(p *partial, f frame.Frame) error {
	switch {
	case p == nil:
		return &refusal{code: frame.UnexpectedFrame, text: "expected method frame, got non method frame instead"}
	case !p.header:
		return p.refuse(frame.UnexpectedFrame, "expected content header for class %d, got non content header frame instead", frame.ContentClass)
	case uint64(len(p.Content.Body)+len(f.Payload)) > p.size:
		return p.refuse(frame.FrameError, "content of %d bytes, more than the %d announced", len(p.Content.Body)+len(f.Payload), p.size)
	case a.held+len(f.Payload) > a.limit:
		return p.refuseTooLarge("more than %d bytes of content are incomplete", a.limit)
	}
	a.held += len(f.Payload)
	if r := a.budget.take(len(f.Payload)); r != nil {
		r.method = p.Method.ID()
		return r
	}
	p.Content.Body = append(p.Content.Body, f.Payload...)
	return nil
}

// give subtracts bytes of content from the incomplete ones, because the message is complete or was dropped.
func (a *assembler) give(bytes int) {
	a.held -= bytes
	a.budget.give(bytes)
}

// drop subtracts the bytes of all incomplete messages, because they will not be completed.
func (a *assembler) drop() { a.give(a.held) }

// refuseTooLarge returns an error because content exceeds a bound.
func (p *partial) refuseTooLarge(format string, args ...any) error {
	r := exceeds(frame.ResourceError, format, args...)
	r.method = p.Method.ID()
	return r
}

func (p *partial) refuse(code frame.Code, format string, args ...any) error {
	return &refusal{code: code, text: fmt.Sprintf(format, args...), method: p.Method.ID()}
}

// refusal is an error with which the server or the simulated broker closes a channel or a connection.
type refusal struct {
	code   frame.Code
	text   string
	method frame.ID // the method that caused the error; 0 if there is none
	bound  bool     // the client exceeded a bound
}

func (r *refusal) Error() string { return r.fullText() }

// refused turns an error of package frame into a refusal.
func refused(err error) *refusal {
	if e, ok := err.(*frame.Error); ok {
		return &refusal{code: e.Code, text: e.Text}
	}
	return &refusal{code: frame.InternalError, text: err.Error()}
}

// fullText is the text for the client in RabbitMQ's form, such as "NOT_FOUND - no queue ...", cut to the maximum
// length.
func (r *refusal) fullText() string {
	text := r.code.Name()
	if r.text != "" {
		text += " - " + r.text
	}
	if len(text) > 255 {
		text = text[:252] + "..."
	}
	return text
}
