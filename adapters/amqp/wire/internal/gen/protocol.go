package main

import (
	"encoding/xml"
	"fmt"
	"slices"
	"strings"
)

// protocol is the part of the AMQP definition from which package frame is generated.
type protocol struct {
	Constants []constant `xml:"constant"`
	Domains   []domain   `xml:"domain"`
	Classes   []class    `xml:"class"`
}

type constant struct {
	Name  string `xml:"name,attr"`
	Value int    `xml:"value,attr"`
	Class string `xml:"class,attr"` // the severity: soft-error, hard-error or "" for other constants
}

type domain struct {
	Name string `xml:"name,attr"`
	Type string `xml:"type,attr"`
}

type class struct {
	Name    string   `xml:"name,attr"`
	Index   int      `xml:"index,attr"`
	Fields  []field  `xml:"field"` // the properties in the header of the class's content
	Methods []method `xml:"method"`
}

type method struct {
	class   *class
	Name    string `xml:"name,attr"`
	Index   int    `xml:"index,attr"`
	Content int    `xml:"content,attr"`
	Chassis []struct {
		Name string `xml:"name,attr"`
	} `xml:"chassis"`
	Responses []struct {
		Name string `xml:"name,attr"`
	} `xml:"response"` // missing for basic.recover, although basic.recover-ok exists
	Fields []field `xml:"field"`
}

type field struct {
	Name     string `xml:"name,attr"`
	Domain   string `xml:"domain,attr"`
	Type     string `xml:"type,attr"` // the elementary type; parse replaces a domain by its type
	Reserved int    `xml:"reserved,attr"`
}

// parse parses the definition and resolves domains.
func parse(text []byte) (*protocol, error) {
	p := new(protocol)
	if err := xml.Unmarshal(text, p); err != nil {
		return nil, fmt.Errorf("reading the protocol's definition: %w", err)
	}
	types := make(map[string]string)
	for _, d := range p.Domains {
		types[d.Name] = d.Type
	}
	resolve := func(fields []field) error {
		for i := range fields {
			f := &fields[i]
			if f.Type == "" {
				f.Type = types[f.Domain]
			}
			if kinds[f.Type].goType == "" {
				return fmt.Errorf("field %s has the unknown domain %q", f.Name, f.Domain)
			}
		}
		return nil
	}
	for i := range p.Classes {
		c := &p.Classes[i]
		if err := resolve(c.Fields); err != nil {
			return nil, fmt.Errorf("class %s: %w", c.Name, err)
		}
		for j := range c.Methods {
			c.Methods[j].class = c
			if err := resolve(c.Methods[j].Fields); err != nil {
				return nil, fmt.Errorf("method %s.%s: %w", c.Name, c.Methods[j].Name, err)
			}
		}
	}
	return p, nil
}

// methods are the methods of all classes.
func (p *protocol) methods() []*method {
	var all []*method
	for i := range p.Classes {
		for j := range p.Classes[i].Methods {
			all = append(all, &p.Classes[i].Methods[j])
		}
	}
	return all
}

// goName turns a name of the definition into an exported identifier.
func goName(names ...string) string {
	var b strings.Builder
	for _, name := range names {
		for word := range strings.SplitSeq(name, "-") {
			if word == "id" {
				word = "ID"
			}
			b.WriteString(strings.ToUpper(word[:1]) + word[1:])
		}
	}
	return b.String()
}

func (m *method) goName() string   { return goName(m.class.Name, m.Name) }
func (m *method) wireName() string { return m.class.Name + "." + m.Name }

// sentBy reports whether a method may be sent by the client or, if client is false, by the server. The definition names
// the peers that must handle the method, so sentBy reports whether the other peer is among them.
func (m *method) sentBy(client bool) bool {
	handler := "client"
	if client {
		handler = "server"
	}
	for _, c := range m.Chassis {
		if c.Name == handler {
			return true
		}
	}
	return false
}

// answered reports whether a reply method exists for this method.
func (m *method) answered() bool {
	return len(m.Responses) > 0 || slices.ContainsFunc(m.class.Methods, func(o method) bool { return o.Name == m.Name+"-ok" })
}

// noWait is the name of the field by which a client declines a reply, in Go; "" if there is none.
func (m *method) noWait() string {
	for _, f := range m.Fields {
		if f.Domain == "no-wait" || f.Name == "nowait" {
			return goName(f.Name)
		}
	}
	return ""
}
