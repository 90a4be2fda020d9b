package draw

import (
	"io"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/histories/style"
	"github.com/lockproof/lockproof/internal/historiestest"
	"github.com/lockproof/lockproof/model/property"
)

// TestDecidedAtOnce: for invented violations of every property at every step, the deciding step is earlier than the
// step that shows the violation, or there is none. Each violation has a sentence about its cause.
func TestDecidedAtOnce(t *testing.T) {
	for p := range property.Count {
		whole := historiestest.LockedTaken()
		for step := range len(whole.Steps) + 2 {
			trace := *whole
			v := whole.Violations[0]
			v.Property, v.Step, v.Detail = p, step, "it was so"
			trace.Violations = append(trace.Violations[:0:0], v)
			if at := Decision(&trace, v); at < 0 || at > step {
				t.Errorf("%s shows at step %d and was decided at step %d", p, step+1, at)
			}
			if cause := Cause(&trace, v); !strings.HasSuffix(cause, ".") {
				t.Errorf("%s at step %d: the cause is %q", p, step+1, cause)
			}
			if step < len(whole.Steps) {
				if err := Draw(io.Discard, &trace, style.Style{Width: 100}); err != nil {
					t.Error(err)
				}
			}
		}
	}
}
