package recognise

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"hash/fnv"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/crypto/blake2b"
	"golang.org/x/crypto/blake2s"
)

// Pattern is how a target makes the name of a queue from a lock's name and a slot's number: {name}-A-{n}. In place of
// {name} there may be {lower}, {upper}, {escaped}, {underscored}, {dashed}, {lowerunderscored}, {lowerdashed}, {hex}, {base64},
// {base32}, {BASE32}, the last three with padded behind them if they are padded, or a hash of it in hexadecimal, such as {sha1}, of
// which {sha1:8} is the first 8 digits; {SHA1} has capital letters, and {sha1base64} and {sha1base32} are it in those. {length} is how
// many bytes the name has. {n:3} has leading zeros, and {n-1} counts from 0. {{ and }} are braces.
type Pattern struct {
	Text  string
	parts []part
}

// part is one part of a pattern: literal text, the lock's name, or the slot's number.
type part struct {
	kind    partKind
	text    string   // of a literal
	written *writing // of the lock's name
	digits  int      // how many of a hash, 0 for all; how many a number has at least
}

type partKind uint8

const (
	literal partKind = iota
	lockName
	nameLength
	slotNumber
	slotFromZero
)

// writing is a way in which a lock's name is written in a queue's.
type writing struct {
	name  string
	write func(string) string
	hash  bool
}

// writings are all, in the order in which they are looked for.
var writings = slices.Concat(inSmallLetters, capitals(inSmallLetters), shorter(plain))

// asItIs is the name itself.
var asItIs = &writings[0]

var inSmallLetters = slices.Concat(plain, uuids(), blakes())

var plain = []writing{
	{"name", func(s string) string { return s }, false},
	{"escaped", url.QueryEscape, false},
	{"lower", strings.ToLower, false},
	{"upper", strings.ToUpper, false},
	{"underscored", func(s string) string { return special.ReplaceAllString(s, "_") }, false},
	{"dashed", func(s string) string { return special.ReplaceAllString(s, "-") }, false},
	{"lowerunderscored", func(s string) string { return strings.ToLower(special.ReplaceAllString(s, "_")) }, false},
	{"lowerdashed", func(s string) string { return strings.ToLower(special.ReplaceAllString(s, "-")) }, false},
	{"hex", func(s string) string { return hex.EncodeToString([]byte(s)) }, false},
	{"base64", func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }, false},
	{"base64padded", func(s string) string { return base64.URLEncoding.EncodeToString([]byte(s)) }, false},
	{"base32", func(s string) string { return strings.ToLower(bare32([]byte(s))) }, false},
	{"BASE32", func(s string) string { return bare32([]byte(s)) }, false},
	{"base32padded", func(s string) string { return strings.ToLower(base32.StdEncoding.EncodeToString([]byte(s))) }, false},
	{"BASE32padded", func(s string) string { return base32.StdEncoding.EncodeToString([]byte(s)) }, false},
	{"sha256", func(s string) string { h := sha256.Sum256([]byte(s)); return hex.EncodeToString(h[:]) }, true},
	{"sha1", func(s string) string { h := sha1.Sum([]byte(s)); return hex.EncodeToString(h[:]) }, true},
	{"md5", func(s string) string { h := md5.Sum([]byte(s)); return hex.EncodeToString(h[:]) }, true},
	{"sha512", func(s string) string { h := sha512.Sum512([]byte(s)); return hex.EncodeToString(h[:]) }, true},
	{"crc32", func(s string) string { return fmt.Sprintf("%08x", crc32.ChecksumIEEE([]byte(s))) }, true},
	{"fnv64", func(s string) string { h := fnv.New64a(); h.Write([]byte(s)); return fmt.Sprintf("%016x", h.Sum64()) }, true},
	{"fnv32", func(s string) string { h := fnv.New32a(); h.Write([]byte(s)); return fmt.Sprintf("%08x", h.Sum32()) }, true},
}

// bare32 is base32 without padding.
var bare32 = base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString

// namespaces are those that version 3 and version 5 of a UUID are made of, by RFC 4122.
var namespaces = map[string]string{
	"dns": "6ba7b810-9dad-11d1-80b4-00c04fd430c8", "url": "6ba7b811-9dad-11d1-80b4-00c04fd430c8",
	"oid": "6ba7b812-9dad-11d1-80b4-00c04fd430c8", "x500": "6ba7b814-9dad-11d1-80b4-00c04fd430c8",
}

// uuid is a writing as the UUID of a name in a namespace, with dashes or without.
func uuid(version int, in string, dashes bool) writing {
	space, err := hex.DecodeString(strings.ReplaceAll(namespaces[in], "-", ""))
	if err != nil {
		panic(err)
	}
	w := writing{name: fmt.Sprintf("uuid%d%s", version, in), hash: true}
	if !dashes {
		w.name += "hex"
	}
	w.write = func(s string) string {
		sum := md5.Sum(append(space[:len(space):len(space)], s...))
		if version == 5 {
			long := sha1.Sum(append(space[:len(space):len(space)], s...))
			copy(sum[:], long[:])
		}
		sum[6], sum[8] = sum[6]&0x0f|byte(version)<<4, sum[8]&0x3f|0x80
		text := hex.EncodeToString(sum[:])
		if !dashes {
			return text
		}
		return strings.Join([]string{text[:8], text[8:12], text[12:16], text[16:20], text[20:]}, "-")
	}
	return w
}

// uuids are writings as UUIDs.
func uuids() (all []writing) {
	for _, version := range []int{5, 3} {
		for _, in := range slices.Sorted(maps.Keys(namespaces)) {
			all = append(all, uuid(version, in, true), uuid(version, in, false))
		}
	}
	return all
}

// blakes are writings as hashes of BLAKE2, whose length is part of what is hashed.
func blakes() (all []writing) {
	for _, size := range []int{64, 32, 28, 24, 20, 16, 12, 10, 8, 6, 5, 4} {
		all = append(all, writing{fmt.Sprintf("blake2b%d", 8*size), func(s string) string {
			h, err := blake2b.New(size, nil)
			if err != nil {
				panic(err)
			}
			h.Write([]byte(s))
			return hex.EncodeToString(h.Sum(nil))
		}, true})
	}
	return append(all, writing{"blake2s", func(s string) string { h := blake2s.Sum256([]byte(s)); return hex.EncodeToString(h[:]) }, true})
}

// capitals are those of the writings that are in hexadecimal, with capital letters.
func capitals(of []writing) (all []writing) {
	for _, w := range of {
		if w.hash || w.name == "hex" {
			all = append(all, writing{strings.ToUpper(w.name), func(s string) string { return strings.ToUpper(w.write(s)) }, w.hash})
		}
	}
	return all
}

// shorter are the hashes of the writings in base64, in both of its alphabets, and in base32, in small letters and in capitals.
func shorter(of []writing) (all []writing) {
	for _, w := range of {
		if !w.hash {
			continue
		}
		in := func(name string, encode func([]byte) string) {
			all = append(all, writing{w.name + name, func(s string) string {
				sum, err := hex.DecodeString(w.write(s))
				if err != nil {
					panic(err)
				}
				return encode(sum)
			}, true})
		}
		in("base64", base64.RawStdEncoding.EncodeToString)
		in("base64url", base64.RawURLEncoding.EncodeToString)
		in("base32", func(sum []byte) string { return strings.ToLower(bare32(sum)) })
		in("BASE32", bare32)
	}
	return all
}

// Telling is a lock's name, with some letters behind it, of which hashes in base64 tell in which of its alphabets they are written,
// though no more than their first characters be there.
func Telling(name string) string {
	for i := 0; ; i++ {
		letters := ""
		for n := i; n > 0; n /= 26 {
			letters += string(rune('a' + n%26))
		}
		if tells(name + letters) {
			return name + letters
		}
	}
}

func tells(name string) bool {
	return !slices.ContainsFunc([]string{"md5", "sha1", "sha256", "sha512"}, func(hash string) bool {
		p, ok := partOf(hash+"base64", false, leastDigits)
		return !ok || !strings.ContainsAny(p.written.write(name)[:leastDigits], "+/")
	})
}

// special is what libraries replace in a lock's name that may not be in a queue's.
var special = regexp.MustCompile(`[^A-Za-z0-9]`)

// leastDigits is how many digits of a hash have to be there for it to be recognised.
const leastDigits = 6

// mostDigits is how many digits of a hash or of a number a pattern may ask for.
const mostDigits = 128

var placeholder = regexp.MustCompile(`\{\{|\}\}|\{([A-Za-z0-9]+)(-1)?(?::(\d{1,4}))?\}`)

// braces are as they stand in a pattern.
var braces = strings.NewReplacer("{", "{{", "}", "}}")

// ParsePattern reads a pattern.
func ParsePattern(text string) (Pattern, error) {
	p := Pattern{Text: text}
	named, at := false, 0
	literally := func(to int) {
		if at < to {
			p.parts = append(p.parts, part{text: text[at:to]})
		}
	}
	for _, m := range placeholder.FindAllStringSubmatchIndex(text, -1) {
		literally(m[0])
		at = m[1]
		if m[2] < 0 { // one of two braces
			at--
			continue
		}
		name, digits := text[m[2]:m[3]], 0
		if m[6] >= 0 {
			digits, _ = strconv.Atoi(text[m[6]:m[7]])
		}
		next, ok := partOf(name, m[4] >= 0, digits)
		if !ok {
			return Pattern{}, fmt.Errorf("queue name %q: %s is none of {n}, {n-1}, {n:3}, {name}, {lower}, {upper}, {escaped}, {underscored}, {dashed}, {hex}, {base64}, {base32}, {length}, {sha1}, {sha1:8} or another hash",
				text, text[m[0]:m[1]])
		}
		named = named || next.kind == lockName
		p.parts = append(p.parts, next)
	}
	literally(len(text))
	if !named {
		return Pattern{}, fmt.Errorf("queue name %q: expected the lock's name in it, as {name} or a hash such as {sha1}", text)
	}
	return p, nil
}

// partOf is what stands in braces.
func partOf(name string, fromZero bool, digits int) (part, bool) {
	switch {
	case digits > mostDigits:
		return part{}, false
	case name == "n" && fromZero:
		return part{kind: slotFromZero, digits: digits}, true
	case name == "n":
		return part{kind: slotNumber, digits: digits}, true
	case fromZero:
		return part{}, false
	case name == "length":
		return part{kind: nameLength, digits: digits}, true
	}
	for i := range writings {
		if w := &writings[i]; w.name == name && (digits == 0 || w.hash) {
			return part{kind: lockName, written: w, digits: digits}, true
		}
	}
	return part{}, false
}

// String is the pattern as it is typed.
func (p Pattern) String() string { return p.Text }

// words are those of it that are neither the lock's name nor a slot's number, in small letters.
func (p Pattern) words() (words []string) {
	for _, part := range p.parts {
		if part.kind == literal {
			words = append(words, strings.FieldsFunc(strings.ToLower(part.text), func(r rune) bool { return !unicode.IsLetter(r) })...)
		}
	}
	return words
}

// Known reports whether there is one.
func (p Pattern) Known() bool { return p.Text != "" }

// Numbered reports whether it has the slot's number.
func (p Pattern) Numbered() bool {
	for _, part := range p.parts {
		if part.kind >= slotNumber {
			return true
		}
	}
	return false
}

// Queue is the name of the queue for a lock and a slot.
func (p Pattern) Queue(lock string, slot int) string {
	return p.expand(lock, slot, func(part part) string { return part.write(lock) })
}

// Shown is the same as traces show it: with the lock's name where its hash is.
func (p Pattern) Shown(lock string, slot int) string {
	return p.expand(lock, slot, func(part part) string {
		if part.written == asItIs {
			return lock
		}
		return part.written.name + "(" + lock + ")"
	})
}

func (p Pattern) expand(lock string, slot int, name func(part) string) string {
	var b strings.Builder
	for _, part := range p.parts {
		switch part.kind {
		case literal:
			b.WriteString(part.text)
		case lockName:
			b.WriteString(name(part))
		case nameLength:
			fmt.Fprintf(&b, "%0*d", part.digits, len(lock))
		case slotNumber:
			fmt.Fprintf(&b, "%0*d", part.digits, slot)
		case slotFromZero:
			fmt.Fprintf(&b, "%0*d", part.digits, slot-1)
		}
	}
	return b.String()
}

// write is how the part has a lock's name.
func (p part) write(lock string) string {
	written := p.written.write(lock)
	if p.digits > 0 && p.digits < len(written) {
		written = written[:p.digits]
	}
	return written
}

// example is a queue that is known to be a lock's, for a slot where that is above 0.
type example struct {
	queue, lock string
	slot        int
}

// learn finds the pattern of which all examples are. The first that fits is taken: the lock's name itself rather than
// a hash of it, a slot's number from behind, and a number as it is rather than as the length of the name.
func learn(examples []example) (Pattern, bool) {
	if len(examples) == 0 {
		return Pattern{}, false
	}
	for _, p := range candidates(examples[0]) {
		fits := true
		for _, e := range examples {
			fits = fits && p.Queue(e.lock, e.slot) == e.queue
		}
		if fits {
			return p, true
		}
	}
	return Pattern{}, false
}

// candidates are the patterns of which one example is.
func candidates(e example) (all []Pattern) {
	var plain, measured []string
	for _, w := range writings {
		before, after, as, ok := w.find(e.queue, e.lock)
		if !ok {
			continue
		}
		heads, tails := sidesOf(before, e), sidesOf(after, e)
		add := func(to *[]string, heads, tails []string) {
			for _, tail := range tails {
				for _, head := range heads {
					*to = append(*to, head+as+tail)
				}
			}
		}
		add(&plain, heads.plain, tails.numbered)
		add(&plain, heads.numbered, tails.plain)
		add(&plain, heads.plain, tails.plain)
		add(&measured, heads.measured, tails.numbered)
		add(&measured, heads.numbered, tails.measured)
		add(&measured, heads.measured, tails.plain)
		add(&measured, heads.plain, tails.measured)
	}
	for _, text := range slices.Concat(plain, measured) {
		if p, err := ParsePattern(text); err == nil {
			all = append(all, p)
		}
	}
	return all
}

// sides are the ways to read what stands on one side of a lock's name, as patterns: as it is, with the slot's number, and with the
// length of the name.
type sides struct{ plain, numbered, measured []string }

func sidesOf(text string, e example) (s sides) {
	s.plain = []string{braces.Replace(text)}
	if e.slot > 0 {
		s.numbered = numbers(text, func(n int) string {
			switch n {
			case e.slot:
				return "n"
			case e.slot - 1:
				return "n-1"
			}
			return ""
		})
	}
	s.measured = numbers(text, func(n int) string {
		if n == len(e.lock) {
			return "length"
		}
		return ""
	})
	return s
}

// find looks for a lock's name in a queue's.
func (w *writing) find(queue, lock string) (before, after, as string, ok bool) {
	written := w.write(lock)
	if written == "" {
		return "", "", "", false
	}
	if before, after, ok = strings.Cut(queue, written); ok || !w.hash {
		return before, after, "{" + w.name + "}", ok
	}
	for n := len(written) - 1; n >= leastDigits; n-- {
		if before, after, ok = strings.Cut(queue, written[:n]); ok {
			return before, after, fmt.Sprintf("{%s:%d}", w.name, n), true
		}
	}
	return "", "", "", false
}

var digits = regexp.MustCompile(`\d+`)

// numbers are the ways in which one of a text's numbers may stand for something, from behind, as patterns; of which is told what
// that is called, if anything.
func numbers(text string, of func(n int) string) (all []string) {
	at := digits.FindAllStringIndex(text, -1)
	for i := len(at) - 1; i >= 0; i-- {
		from, to := at[i][0], at[i][1]
		n, err := strconv.Atoi(text[from:to])
		if err != nil || of(n) == "" {
			continue
		}
		width := ""
		if text[from] == '0' && to-from > 1 {
			width = fmt.Sprintf(":%d", to-from)
		}
		all = append(all, braces.Replace(text[:from])+"{"+of(n)+width+"}"+braces.Replace(text[to:]))
	}
	return all
}
