package frame

import (
	"bytes"
	"testing"
)

var declare = &QueueDeclare{Queue: "lock:jobs:B:1", Exclusive: true}

func BenchmarkReadMethod(b *testing.B) {
	p := payload(declare)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ReadMethod(p); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppendMethod(b *testing.B) {
	buf := make([]byte, 0, 256)
	b.ReportAllocs()
	for b.Loop() {
		buf = AppendMethod(buf[:0], 1, declare)
	}
}

func BenchmarkReadFrame(b *testing.B) {
	one := AppendMethod(nil, 1, declare)
	src := bytes.NewReader(nil)
	r := NewReader(src, 0)
	b.SetBytes(int64(len(one)))
	b.ReportAllocs()
	for b.Loop() {
		src.Reset(one)
		if _, err := r.Next(); err != nil {
			b.Fatal(err)
		}
	}
}
