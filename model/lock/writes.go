package lock

// Roles is a set of roles.
type Roles uint8

// AllRoles is the set of every role.
const AllRoles Roles = 1<<RoleA | 1<<RoleB | 1<<RoleAdmin | 1<<RoleMutex

// Has reports whether a role is in the set.
func (s Roles) Has(r Role) bool { return s&(1<<r) != 0 }

// Writes are the roles of the queues that an operation may declare, delete or lose. Whoever asks wants
// to know what can't be disturbed any more.
func (p *Protocol) Writes(op Op) Roles {
	switch {
	case op.Administrative():
		return 1<<RoleA | 1<<RoleAdmin
	case op == Acquire, op == Verify, op == Release:
		return 1<<RoleB | 1<<RoleMutex
	}
	return 0
}
