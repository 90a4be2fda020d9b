package cli

import (
	"fmt"
	"strings"

	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// properties is the value of a flag that names properties. They are separated by commas, or given by several flags.
type properties struct {
	set property.Set
	all bool // the word "all" was given, where that is allowed
}

// String implements pflag.Value.
func (p *properties) String() string { return strings.Join(p.set.Names(), ",") }

// Type implements pflag.Value.
func (p *properties) Type() string { return "LIST" }

// Set implements pflag.Value.
func (p *properties) Set(list string) error {
	for _, name := range strings.Split(list, ",") {
		property, err := property.Named(name)
		if err != nil {
			return err
		}
		p.set = p.set.With(property)
	}
	return nil
}

// orAll is the value of a flag that names properties or the word "all".
type orAll struct{ *properties }

// Set implements pflag.Value.
func (p orAll) Set(list string) error {
	if list == "all" {
		p.all = true
		return nil
	}
	return p.properties.Set(list)
}

// external returns the properties to judge for an external lock: those that apply to every lock, and those in p or
// required that are judged only if clients declare something, for example that they give fencing tokens.
func (p *properties) external(kind lock.Kind, required *properties) property.Set {
	return property.ApplicableExternal(kind) | (p.set|required.set)&property.Announceable
}

// judged returns the properties to judge for a lock type: those that --property names, or all applicable ones.
func (p *properties) judged(applicable property.Set, kind lock.Kind) (property.Set, error) {
	if p.set == 0 {
		return applicable, nil
	}
	if none := p.set &^ applicable; none != 0 {
		return 0, fmt.Errorf("--property %s: %s; leave it out", none.Names()[0], notJudged(none, kind))
	}
	return p.set, nil
}

// notJudged says why a property is not judged for a lock type. The property is the first one in the set none.
func notJudged(none property.Set, kind lock.Kind) string {
	if first := none & -none; property.Applicable(kind)&first != 0 {
		return "it is not judged of this target, by what its clients are told and what it can do"
	}
	return fmt.Sprintf("it means nothing for a %s", kind)
}

// required returns the properties that must be judged: those that --require names, or all.
func (p *properties) required(judged property.Set, kind lock.Kind) (property.Set, error) {
	if p.all {
		return judged, nil
	}
	if none := p.set &^ (judged | property.Applicable(kind) | property.Announceable); none != 0 {
		return 0, fmt.Errorf("--require %s: it means nothing for a %s; leave it out", none.Names()[0], kind)
	}
	if none := p.set &^ judged; none != 0 {
		return 0, fmt.Errorf("--require %s: it is not judged here; name it with --property as well, or leave it out", none.Names()[0])
	}
	return p.set, nil
}
