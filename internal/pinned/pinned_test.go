package pinned

import (
	"path/filepath"
	"strings"
	"testing"
)

// A line distinguishes the inputs, and Compare shows the first input of a line that differs.
func TestTheInputThatDiffers(t *testing.T) {
	lines := func(odd int) *File {
		f := New(t)
		f.Block("squares", 20, func(i int, s *Seen) {
			s.Count([]string{"even", "odd"}[i%2])
			s.Printf("the square of %d is %d", i, i*i)
			if i == odd {
				s.Printf(", and a half")
			}
		})
		return f
	}
	path := filepath.Join(t.TempDir(), "squares.txt")
	right, wrong := lines(-1), lines(7)
	right.Compare(path, true)
	right.Compare(path, false)
	if !strings.HasPrefix(right.blocks[0].line, "squares: 20 inputs, 10 even, 10 odd; ") {
		t.Error(right.blocks[0].line)
	}
	if right.blocks[0].line == wrong.blocks[0].line {
		t.Error("one input differs, and the line does not")
	}
	if shown := wrong.blocks[0].shown(right.blocks[0].line); !strings.Contains(shown, "input 7") || !strings.Contains(shown, "49, and a half") {
		t.Error(shown)
	}
}
