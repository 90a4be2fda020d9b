package draw

import (
	"fmt"
	"html"
	"strings"
	"unicode/utf8"

	"github.com/lockproof/lockproof/histories/style"
)

// Functions that write the SVG elements of the pictures. The page's style sheet defines the colours.

// canvas is a picture that grows downward.
type canvas struct {
	b             strings.Builder
	width, height int
}

func (c *canvas) line(class, color string, x1, y1, x2, y2 int) {
	fmt.Fprintf(&c.b, `<line class="%s"%s x1="%d" y1="%d" x2="%d" y2="%d"/>`+"\n", class, stroke(color), x1, y1, x2, y2)
}

func (c *canvas) rect(class, color string, x, y, width, height int) {
	fmt.Fprintf(&c.b, `<rect class="%s"%s x="%d" y="%d" width="%d" height="%d" rx="3"/>`+"\n", class, fillStyle(color), x, y, width, height)
}

// wide draws a rectangle as wide as the final picture.
func (c *canvas) wide(class string, y, height int) {
	fmt.Fprintf(&c.b, `<rect class="%s" x="0" y="%d" width="100%%" height="%d"/>`+"\n", class, y, height)
}

func (c *canvas) dot(color string, x, y, radius int) {
	fmt.Fprintf(&c.b, `<circle%s cx="%d" cy="%d" r="%d"/>`+"\n", fillStyle(color), x, y, radius)
}

// titled draws a dot with a tooltip.
func (c *canvas) titled(color string, x, y, radius int, title string) {
	fmt.Fprintf(&c.b, `<circle%s cx="%d" cy="%d" r="%d"><title>%s</title></circle>`+"\n", fillStyle(color), x, y, radius, escaped(title))
}

// begin and end open and close a group of elements. The group's id is a link target; "" means none.
func (c *canvas) begin(id string) {
	if id != "" {
		id = ` id="` + escaped(id) + `"`
	}
	fmt.Fprintf(&c.b, "<g%s>\n", id)
}

func (c *canvas) end() { c.b.WriteString("</g>\n") }

// cross draws the mark of a crash, with its center at a point.
func (c *canvas) cross(x, y int) {
	fmt.Fprintf(&c.b, `<path class="cross" d="M%d %d l12 12 m0 -12 l-12 12"/>`+"\n", x-6, y-6)
}

// text writes text to the right of a point; y is the vertical middle of the text.
func (c *canvas) text(class, color string, x, y int, text string) {
	fmt.Fprintf(&c.b, `<text class="%s"%s x="%d" y="%d" xml:space="preserve">%s</text>`+"\n", class, fillStyle(color), x, y+4, escaped(text))
	c.width = max(c.width, x+textWidth(text))
}

// centered writes text with its center at a point.
func (c *canvas) centered(class, color string, x, y int, text string) {
	fmt.Fprintf(&c.b, `<text class="%s"%s x="%d" y="%d" text-anchor="middle">%s</text>`+"\n", class, fillStyle(color), x, y+4, escaped(text))
}

// arrow draws an arrow from x1 to x2, pointing right.
func (c *canvas) arrow(x1, y, x2 int) {
	c.line("wire", "", x1, y, x2, y)
	fmt.Fprintf(&c.b, `<path d="M%d %d l-6 -3.5 v7 z" fill="var(--soft)"/>`+"\n", x2, y)
}

// picture returns the whole SVG element; label describes it for readers who cannot see it.
func (c *canvas) picture(label string) string {
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="%s" width="%d" height="%d" viewBox="0 0 %[2]d %[3]d">`+"\n", escaped(label), c.width+margin, c.height) +
		c.b.String() + "</svg>\n"
}

// escaped escapes text for HTML, and makes invisible characters visible.
func escaped(text string) string { return html.EscapeString(style.Printable(text)) }

func stroke(color string) string {
	if color == "" {
		return ""
	}
	return ` stroke="` + color + `"`
}

func fillStyle(color string) string {
	if color == "" {
		return ""
	}
	return ` style="fill:` + color + `"`
}

func clientColor(client int) string { return fmt.Sprintf("var(--c%d)", (client-1)%8+1) }

// textWidth is the approximate width of a text, in pixels.
func textWidth(text string) int { return (utf8.RuneCountInString(text)*725 + 99) / 100 }
