package monitor

import (
	"reflect"
	"slices"
	"testing"

	"github.com/lockproof/lockproof/model/codec"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// TestCodeClientLeavesNothing: decoding a client's state replaces the whole earlier state.
func TestCodeClientLeavesNothing(t *testing.T) {
	var fresh, used Monitor
	for _, m := range []*Monitor{&fresh, &used} {
		m.Reset(lock.Semaphore, lock.Facts{}, 2, []Truth{slotOne.free})
	}
	c := codec.Write(nil)
	fresh.CodeClient(&c, 1)
	used.Begin(1, 0, lock.Remove, 1, true)
	used.clients[0].working = true
	back := codec.Read(c.Bytes())
	used.CodeClient(&back, 1)
	if used.clients[0] != fresh.clients[0] {
		t.Errorf("read %+v, written %+v", used.clients[0], fresh.clients[0])
	}
}

// unkept are the fields that a search does not keep, each with the reason.
var unkept = map[string]string{
	"since": "measured", "steps": "measured", "then": "measured", "ahead": "measured", "broken": "measured",
	"Commands": "no budget is of commands", "Replies": "no budget is of replies",
}

// TestEveryFieldIsKept changes each field of a client's state on its own. The code must then differ, and decode to the
// same value. Forget must keep the field if all properties are judged, since a search would otherwise merge states that
// differ.
func TestEveryFieldIsKept(t *testing.T) {
	eachField(reflect.TypeFor[watch](), nil, func(path []int, name string) {
		base := watch{op: lock.Acquire, alive: true, believed: 1}
		switch name { // operations during which the field matters
		case "counted", "grown", "shrunk", "working", "interleaved", "alone":
			base.op = lock.Remove
		case "mine", "held", "stale":
			base.op = lock.Verify
		case "on", "until", "turn", "stolen":
			base.leased, base.until = true, 5
		}
		changed := base
		f := reflect.ValueOf(&changed).Elem().FieldByIndex(path)
		reflect.NewAt(f.Type(), f.Addr().UnsafePointer()).Elem().Set(other(f))
		if changed == base {
			t.Fatalf("%s: nothing has changed", name)
		}
		kept := func(w watch) watch {
			m := Monitor{n: 1, Witnessed: true, WitnessedStrong: true, retries: 200, tries: 200, polls: 200}
			m.clients[0] = w
			m.Forget(1<<property.Count-1, property.Strong)
			return m.clients[0]
		}
		coded := func(w watch) (out watch, text string) {
			c := codec.Write(nil)
			m := Monitor{traits: ^lock.Traits(0)}
			m.encode(&w, &c)
			back := codec.Read(c.Bytes())
			m.encode(&out, &back)
			return out, string(c.Bytes())
		}
		back, text := coded(changed)
		_, without := coded(base)
		switch why := unkept[name]; {
		case why != "" && kept(changed) != kept(base):
			t.Errorf("%s is kept, though it is %s", name, why)
		case why == "" && kept(changed) == kept(base):
			t.Errorf("%s is forgotten though every property is judged", name)
		case why == "" && text == without:
			t.Errorf("%s is not encoded", name)
		case why == "" && back != changed:
			t.Errorf("%s: read %+v, written %+v", name, back, changed)
		}
	})
}

// eachField calls visit for each field of a struct type, and for the fields of its structs instead of these.
func eachField(typ reflect.Type, path []int, visit func(path []int, name string)) {
	for i := range typ.NumField() {
		f, at := typ.Field(i), append(slices.Clone(path), i)
		if f.Type.Kind() == reflect.Struct {
			eachField(f.Type, at, visit)
			continue
		}
		visit(at, f.Name)
	}
}

// other is another value of the type of f.
func other(f reflect.Value) reflect.Value {
	v := reflect.New(f.Type()).Elem()
	switch f.Kind() {
	case reflect.Bool:
		v.SetBool(!f.Bool())
	case reflect.Int32, reflect.Int64:
		v.SetInt(f.Int() + 3)
	default:
		v.SetUint(f.Uint() + 3)
	}
	return v
}
