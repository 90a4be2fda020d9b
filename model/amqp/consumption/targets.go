package consumption

import "github.com/lockproof/lockproof/model/lock"

// unpromised are the properties that no lock by consumption promises, each with the reason.
var unpromised = map[string]string{
	"minimal-driver": "it consumes or gets messages, which the guidelines ask of no driver",
}

// Reasons why some locks by consumption do not promise a property.
const (
	breaksChannel = "passive declare of a queue that is not there breaks the channel, and there is no other way to see how many consumers it has"
	waitsForIt    = "a consumer is made and cancelled for each attempt"
	unnumbered    = "tokens have no numbers, so that a history cannot tell which was removed"
)

// skips returns the reasons why properties are skipped, by the property's name: those in unpromised and those in more.
// Each element of more is a property and its reason.
func skips(more ...[2]string) map[string]string {
	all := make(map[string]string)
	for name, why := range unpromised {
		all[name] = why
	}
	for _, m := range more {
		all[m[0]] = m[1]
	}
	return all
}

// offered are the operations of semaphores. Wait is missing: a wait names a slot, but tokens have no slot numbers.
var offered = []lock.Op{lock.Create, lock.Acquire, lock.Verify, lock.Release, lock.Add, lock.Remove, lock.Destroy, lock.Count}

// References are the locks by consumption that should violate no property. Skips has the properties that a design
// cannot promise; the package's README says which executions violate them.
var References = []*lock.Target{
	{
		Name: "consumer-mutex", Kind: lock.Mutex, Backend: Server, Skips: skips(),
		Doc: "true mutex: whoever consumes its queue exclusively",
	},
	{
		Name: "consumer-persistent-mutex", Kind: lock.PersistentMutex, Backend: Server,
		Skips: skips([2]string{"cheap-acquire", breaksChannel}),
		Doc:   "persistent mutex: whoever consumes its queue exclusively, while it is there",
	},
	{
		Name: "token-semaphore", Kind: lock.Semaphore, Backend: Server, Traits: lock.Permits, Offers: offered,
		Skips: skips([2]string{"linearizable", unnumbered}),
		Doc:   "receive-based semaphore with an account of its tokens: what changes it is one transaction",
	},
	{
		Name: "waiting-token-semaphore", Kind: lock.Semaphore, Backend: Server, Traits: lock.Permits, Offers: offered,
		Skips: skips([2]string{"linearizable", unnumbered}, [2]string{"cheap-acquire", waitsForIt}),
		Doc:   "the same, acquired by a consumer that waits for a token and is cancelled when it has it",
		Fix:   Table.Fix(func(o *Settings) { o.Acquire, o.Creator = ByConsume, ByAdmin }),
	},
	{
		Name: "plain-token-semaphore", Kind: lock.Semaphore, Backend: Server, Traits: lock.Permits, Offers: offered,
		Skips: skips([2]string{"linearizable", unnumbered},
			[2]string{"exact-count", "the broker counts tokens that are ready, and not those that are held"},
			[2]string{"contiguous-slots", "creating it again cannot see how many tokens are held"},
			[2]string{"admin-exclusion", "administration is adding and taking tokens, which anybody may do at any time"},
			[2]string{"removal-drains", "destroying it takes every token from its holder, silently"},
			[2]string{"mutual-exclusion", "destroying and creating it makes new tokens beside those that are held"},
			[2]string{"no-false-hold", "destroying and creating it makes new tokens beside those that are held"},
			[2]string{"honest-verify", "nothing that can be asked tells a token of a queue that was deleted from one of the queue of that name"},
			[2]string{"cheap-acquire", "basic.get of a queue that was deleted breaks the channel"},
			[2]string{"cheap-verify", "so does a passive declare"},
			[2]string{"progress", "whoever removes more tokens than there are waits for what nobody holds"},
			[2]string{"no-phantom-slot", "a slot that was destroyed and made again has no number to tell it by"}),
		Doc: "receive-based semaphore as it is published: its tokens, and nothing else",
		Fix: Table.Fix(func(o *Settings) { o.Admin = Tokens }),
	},
}
