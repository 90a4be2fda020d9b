package drawn

// Scripted is a hand-written history of one lock, in the format of [Script].
type Scripted struct{ Name, Text string }

// GoneMayFree are histories of a mutex in which connections end. It is not known whether the end of a connection
// frees the mutex.
var GoneMayFree = []Scripted{
	{"the end frees", `
		c1 acquire
		c1 ok acquire 1
		gone c1
		c2 acquire
		c2 ok acquire 1`},
	{"it does not", `
		c1 acquire
		c1 ok acquire 1
		gone c1
		c2 acquire
		c2 fail acquire full`},
	{"nothing was held", `
		c1 acquire
		c1 ok acquire 1
		c1 release 1
		c1 ok release 1
		gone c1
		c2 acquire
		c2 fail acquire full`},
	{"held on, and told so", `
		c1 acquire
		c1 ok acquire 1
		gone c1
		c1 verify 1
		c1 ok verify 1`},
	{"claimed anew between others", `
		c1 acquire
		c1 ok acquire 1
		gone c1
		c2 acquire
		c2 ok acquire 1
		c2 release 1
		c2 ok release 1
		c1 verify 1
		c1 ok verify 1
		c2 acquire
		c2 fail acquire full`},
	{"told so though another holds it", `
		c1 acquire
		c1 ok acquire 1
		gone c1
		c2 acquire
		c2 ok acquire 1
		c1 verify 1
		c1 ok verify 1`},
	{"told so, and granted to another", `
		c1 acquire
		c1 ok acquire 1
		gone c1
		c1 verify 1
		c1 ok verify 1
		c2 acquire
		c2 ok acquire 1`},
	{"told so, and lost again", `
		c1 acquire
		c1 ok acquire 1
		gone c1
		c1 verify 1
		c1 ok verify 1
		gone c1
		c2 acquire
		c2 ok acquire 1`},
	{"an acquire goes on on another connection, and keeps it", `
		c1 acquire
		gone c1
		c1 ok acquire 1
		c2 acquire
		c2 fail acquire full`},
	{"told yes while another had it all along", `
		c2 acquire
		c2 ok acquire 1
		c1 acquire
		gone c1
		c1 ok acquire 1`},
	{"granted, lost, and granted to another before the answer", `
		c1 acquire
		gone c1
		c2 acquire
		c2 ok acquire 1
		c1 ok acquire 1`},
	{"given up in a verify before its answer", `
		c1 acquire
		c1 ok acquire 1
		c1 verify 1
		c2 acquire
		c2 ok acquire 1
		c1 ok verify 1 busy`},
	{"not given up in a verify", `
		c1 acquire
		c1 ok acquire 1
		c1 verify 1
		c2 acquire
		c2 ok acquire 1
		c1 ok verify 1`},
	{"lost in a verify that has no answer", `
		c1 acquire
		c1 ok acquire 1
		c1 verify 1
		c1 info verify
		c2 acquire
		c2 ok acquire 1
		gone c2`},
	{"lost in a verify that failed", `
		c1 acquire
		c1 ok acquire 1
		c1 verify 1
		c1 fail verify 1
		c2 acquire
		c2 ok acquire 1`},
	{"said to be lost though nothing happened", `
		c1 acquire
		c1 ok acquire 1
		c1 verify 1
		c1 ok verify 1 removed`},
	{"administration busy because of an acquire", `
		c1 acquire
		c2 create 1
		c2 fail create busy
		c1 ok acquire 1`},
	{"administration busy because of a verify", `
		c1 acquire
		c1 ok acquire 1
		c1 verify 1
		c2 create 1
		c2 fail create busy
		c1 ok verify 1`},
	{"administration busy though nobody does anything", `
		c2 create 1
		c2 fail create busy`},
	{"nothing to destroy", `
		c2 destroy
		c2 fail destroy busy`},
	{"administration busy though there is something to destroy", `
		c2 create 1
		c2 ok create 1
		c2 destroy
		c2 fail destroy busy`},
	{"nothing left to destroy", `
		c2 create 1
		c2 ok create 1
		c2 destroy
		c2 ok destroy
		c1 destroy
		c1 fail destroy busy`},
	{"a restart keeps it", `
		c1 acquire
		c1 ok acquire 1
		restart
		c1 verify 1
		c1 ok verify 1
		c2 acquire
		c2 fail acquire full`},
}

// Releases are histories of a mutex in which a client releases what another holds, or in which a release fails.
var Releases = []Scripted{
	{"by another", `
		c1 acquire
		c1 ok acquire 1
		c2 release 1
		c2 ok release 1
		c3 acquire
		c3 ok acquire 1`},
	{"by another, while the holder releases it too", `
		c1 acquire
		c1 ok acquire 1
		c2 release 1
		c1 release 1
		c1 ok release 1
		c2 ok release 1`},
	{"by another, and the holder's release meets the next holder's", `
		c1 acquire
		c1 ok acquire 1
		c2 release 1
		c2 ok release 1
		c2 acquire
		c2 ok acquire 1
		c1 release 1
		c1 ok release 1
		c3 acquire
		c3 ok acquire 1`},
	{"of what nobody holds", `
		c1 release 1
		c1 ok release 1`},
	{"without an answer", `
		c1 acquire
		c1 ok acquire 1
		c2 release 1
		c2 info release
		c3 acquire
		c3 ok acquire 1
		gone c9`},
	{"failed", `
		c1 acquire
		c1 ok acquire 1
		c1 release 1
		c1 fail release
		c2 acquire
		c2 ok acquire 1`},
	{"failed, after another was told yes", `
		c1 acquire
		c1 ok acquire 1
		c1 release 1
		c2 acquire
		c2 ok acquire 1
		c1 fail release`},
}
