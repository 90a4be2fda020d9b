package frame

import "fmt"

// ID is the number of a method: the class in the upper half, the method within it in the lower half.
type ID uint32

// MethodID combines the numbers of a class and of a method in it.
func MethodID(class, method uint16) ID { return ID(class)<<16 | ID(method) }

// Class is the number of the method's class.
func (id ID) Class() uint16 { return uint16(id >> 16) }

// Method is the number of the method in its class.
func (id ID) Method() uint16 { return uint16(id) }

// info is what the protocol definition says of a method.
type info struct {
	name    string
	index   int
	content bool // a header and body frames follow
	sync    bool // another method answers this one
	client  bool // a client may send it
	server  bool // a server may send it
}

// String is the method's name in the definition, such as "queue.declare".
func (id ID) String() string {
	if about, ok := about(id); ok {
		return about.name
	}
	return fmt.Sprintf("unknown method %d.%d", id.Class(), id.Method())
}

// Index is the method's index in [IDs]; -1 if no method has this number.
func (id ID) Index() int {
	if about, ok := about(id); ok {
		return about.index
	}
	return -1
}

// HasContent reports whether a header and body frames follow the method.
func (id ID) HasContent() bool { about, _ := about(id); return about.content }

// IsSync reports whether the method is synchronous: the peer answers it with another method.
func (id ID) IsSync() bool { about, _ := about(id); return about.sync }

// FromClient reports whether a client may send the method.
func (id ID) FromClient() bool { about, _ := about(id); return about.client }

// FromServer reports whether a server may send the method.
func (id ID) FromServer() bool { about, _ := about(id); return about.server }

// Method is a method with its arguments. Reserved arguments are left out.
type Method interface {
	ID() ID
	read(*reader)
	append([]byte) []byte
}

// ReadMethod reads the payload of a method frame. The result shares no memory with the payload. The error is an
// [*Error].
func ReadMethod(payload []byte) (Method, error) {
	r := reader{b: payload}
	id := ID(r.long())
	if r.failed {
		return nil, errorf(FrameError, "a method frame of %d bytes has no method", len(payload))
	}
	m := blank(id)
	if m == nil {
		return nil, errorf(CommandInvalid, "unknown method %d.%d", id.Class(), id.Method())
	}
	m.read(&r)
	if r.failed {
		return nil, errorf(SyntaxError, "the arguments of %s end early or contain a bad table", id)
	}
	if len(r.b) > 0 {
		return nil, errorf(SyntaxError, "%d bytes are left behind the arguments of %s", len(r.b), id)
	}
	return m, nil
}

// AppendMethod appends a method frame. It cuts short strings to 255 bytes.
func AppendMethod(b []byte, channel uint16, m Method) []byte {
	start := len(b)
	b = appendHead(b, FrameMethod, channel)
	b = appendLong(b, uint32(m.ID()))
	return finish(m.append(b), start)
}
