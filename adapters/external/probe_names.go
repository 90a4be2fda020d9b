package external

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/lockproof/lockproof/adapters/external/recognise"
	"github.com/lockproof/lockproof/model/scenario"
)

// What a lock's queues are called is learnt of a few names. Others may be written otherwise: a library may keep short names and
// hash long ones, or those with some characters. It is looked at one of each kind that scenarios give to locks.

// kindOf sorts names: libraries treat two names of one kind alike. A kind is the special characters of a name, whether it has
// capital letters, and how long it is.
func kindOf(name string) (kind string) {
	for _, c := range name {
		if !plain(c) && !strings.ContainsRune(kind, c) {
			kind += string(c)
		}
	}
	if name != strings.ToLower(name) {
		kind += "A"
	}
	for _, most := range longNames {
		if len(name) > most {
			kind += "…"
		}
	}
	return kind
}

// plain reports whether every library takes a character in a lock's name.
func plain(c rune) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' }

// longNames are lengths in bytes that libraries and servers cut names at, or shorter.
var longNames = [...]int{16, 60, 120}

// fate is what becomes of a lock's name.
type fate struct {
	refused   bool // nobody is granted a lock of that name
	otherwise bool // what the broker has of it is not called as that of others
}

// probeNames has the setup client use locks of all kinds of names once, if nobody has.
func (s *Runner) probeNames(ctx context.Context) error {
	if s.config.Learnt.namesLooked() {
		return nil
	}
	fates := make(map[string]fate)
	for _, name := range s.config.Names {
		if _, looked := fates[kindOf(name)]; looked {
			continue
		}
		f, err := s.tryName(ctx, s.place(name))
		if err != nil {
			return err
		}
		fates[kindOf(name)] = f
	}
	s.config.Learnt.looked(fates)
	return nil
}

// tryName has the setup client use a lock of some name.
func (s *Runner) tryName(ctx context.Context, name string) (fate, error) {
	a, p := s.handles[0], recognise.NewProbe()
	err := s.make(ctx, name, p)
	var u *recognise.Use
	if err == nil {
		u, err = s.hold(ctx, a, name, p)
	}
	if err == nil {
		err = s.letGo(ctx, a, u, p)
	}
	if err == nil {
		err = s.unmake(ctx, name)
	}
	if errors.Is(err, ErrDied) {
		if err = a.kill(); err == nil {
			err = a.ready(ctx)
		}
		return fate{refused: true}, err
	}
	if err != nil {
		return fate{}, err
	}
	return fate{refused: !u.Granted, otherwise: u.Granted && s.design.Known() && !s.design.Shown(u)}, nil
}

// looked takes in what becomes of names.
func (l *Learnt) looked(fates map[string]fate) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fates = fates
}

// namesLooked reports whether it was looked what becomes of names.
func (l *Learnt) namesLooked() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.fates != nil
}

// fate is what becomes of a name.
func (l *Learnt) fate(name string) fate {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.fates[kindOf(name)]
}

// designOf is the design of some locks: it is not known where one of them has what is called otherwise than was learnt.
func (s *Runner) designOf(locks []scenario.Lock) recognise.Design {
	d := s.design
	for _, l := range locks {
		if d.Known() && s.config.Learnt.fate(l.Name).otherwise {
			d.Holding, d.Why = recognise.Unknown, "what the broker has of the lock "+l.Name+" is not called as what it has of others"
		}
	}
	return d
}

// nameable gives locks other names than those that are refused. Who refuses the first name there is does it for no name's sake.
func (s *Runner) nameable(locks []scenario.Lock) []scenario.Lock {
	if len(s.config.Names) == 0 || s.config.Learnt.fate(s.config.Names[0]).refused {
		return locks
	}
	locks = slices.Clone(locks)
	for i := range locks {
		if !s.config.Learnt.fate(locks[i].Name).refused {
			continue
		}
		for _, name := range s.config.Names {
			taken := slices.ContainsFunc(locks, func(l scenario.Lock) bool { return l.Name == name })
			if !taken && !s.config.Learnt.fate(name).refused {
				locks[i].Name = name
				break
			}
		}
	}
	return locks
}
