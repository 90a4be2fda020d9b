package frame

import "encoding/binary"

func appendOctet(b []byte, v uint8) []byte     { return append(b, v) }
func appendShort(b []byte, v uint16) []byte    { return binary.BigEndian.AppendUint16(b, v) }
func appendLong(b []byte, v uint32) []byte     { return binary.BigEndian.AppendUint32(b, v) }
func appendLonglong(b []byte, v uint64) []byte { return binary.BigEndian.AppendUint64(b, v) }

func appendShortstr(b []byte, s string) []byte {
	if len(s) > 255 {
		s = s[:255]
	}
	return append(append(b, uint8(len(s))), s...)
}

func appendLongstr(b []byte, s string) []byte {
	return append(appendLong(b, uint32(len(s))), s...)
}

func appendTable(b []byte, t Table) []byte {
	return append(appendLong(b, uint32(len(t))), t...)
}

// appendBits packs up to eight bits, lowest first.
func appendBits(b []byte, bits ...bool) []byte {
	var octet uint8
	for i, bit := range bits {
		if bit {
			octet |= 1 << i
		}
	}
	return append(b, octet)
}
