package frame

import (
	"bytes"
	"reflect"
	"testing"
)

// FuzzFrame checks that no input makes the reader panic, and that a method or header reads back unchanged after it is
// written.
func FuzzFrame(f *testing.F) {
	for _, m := range methods {
		f.Add(AppendMethod(nil, 1, m))
	}
	f.Add(AppendContent(nil, 1, &Content{Properties: header.Properties, Body: []byte("body")}, 0))
	f.Add(AppendHeartbeat(nil))
	f.Add(nested(MaxDepth + 1))
	f.Add([]byte("\x01\x00\x01\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, stream []byte) {
		r := NewReader(bytes.NewReader(stream), FrameMinSize)
		for {
			fr, err := r.Next()
			if err != nil {
				return
			}
			switch fr.Type {
			case FrameMethod:
				if m, err := ReadMethod(fr.Payload); err == nil {
					again(t, m)
					walk(m)
				}
			case FrameHeader:
				if h, err := ReadHeader(fr.Payload); err == nil {
					b := AppendHeader(nil, fr.Channel, &h)
					if h2, err := ReadHeader(b[headSize : len(b)-1]); err != nil || !reflect.DeepEqual(h, h2) {
						t.Errorf("%#v became %#v: %v", h, h2, err)
					}
				}
			}
		}
	})
}

// again fails the test if a method changes when it is written and read back.
func again(t *testing.T, m Method) {
	b := payload(m)
	if m2, err := ReadMethod(b); err != nil || !reflect.DeepEqual(m, m2) || !bytes.Equal(payload(m2), b) {
		t.Errorf("%#v became %#v: %v", m, m2, err)
	}
}

// walk reads every value of a method's tables.
func walk(m Method) {
	if d, ok := m.(*QueueDeclare); ok {
		walkTable(d.Arguments)
	}
}

func walkTable(t Table) {
	for _, v := range t.All() {
		walkValue(v)
	}
}

func walkValue(v any) {
	switch v := v.(type) {
	case Table:
		walkTable(v)
	case Array:
		for v := range v.All() {
			walkValue(v)
		}
	}
}
