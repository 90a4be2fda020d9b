package draw

import (
	"regexp"
	"strings"

	"github.com/lockproof/lockproof/model/lock"
)

// Term is a word for something on a server that occurs in steps, with its meaning.
type Term struct{ Word, Meaning string }

// glossary explains words of AMQP 0-9-1 and the names of the guidelines' queues, in the order in which a reader meets
// them in a diagram. Each entry has a pattern that finds the word in a text.
var glossary = []struct {
	find *regexp.Regexp
	Term
}{
	{regexp.MustCompile(`\S-\d+-A\b`), Term{"jobs-1-A", "the persistent queue that is slot 1 of jobs: the slot exists while it does"}},
	{regexp.MustCompile(`\S-\d+-B\b`), Term{"jobs-1-B", "the queue by which slot 1 of jobs is held: exclusive to the holder's connection, and gone with it"}},
	{regexp.MustCompile(`\S-mutex\b`), Term{"jobs-mutex", "the queue by which the mutex jobs is held: exclusive to the holder's connection, and gone with it"}},
	{regexp.MustCompile(`\S-admin\b`), Term{"jobs-admin", "the queue by which the administration mutex of jobs is held"}},
	{regexp.MustCompile(`\bpublish \S+`), Term{"publish", "basic.publish to the queue of that name, with the mandatory flag: a probe whether the queue is there"}},
	{regexp.MustCompile(`not mandatory`), Term{"not mandatory", "without that flag, so that nothing is said where no queue is there"}},
	{regexp.MustCompile(`→ ack|, ack`), Term{"ack", "the broker has taken the message: answered to a mandatory one without NO_ROUTE, a queue of that name is there"}},
	{regexp.MustCompile(`→ nack`), Term{"nack", "the broker has not taken the message: a queue that has no room for it rejects it"}},
	{regexp.MustCompile(`NO_ROUTE`), Term{"NO_ROUTE", "the message came back (basic.return 312): no queue of that name is there"}},
	{regexp.MustCompile(`\bdeclare \S+`), Term{"declare", "queue.declare: makes the queue unless it is there"}},
	{regexp.MustCompile(`\bexclusive\b`), Term{"exclusive", "of this connection alone: others are refused, and the queue goes when the connection ends"}},
	{regexp.MustCompile(`\bdurable\b`), Term{"durable", "it survives a restart of the broker"}},
	{regexp.MustCompile(`\bauto-delete\b`), Term{"auto-delete", "it goes with its last consumer, and stays if it never had one"}},
	{regexp.MustCompile(`\bpassive\b`), Term{"passive", "asks for the queue without making it"}},
	{regexp.MustCompile(`\bdelete \S+`), Term{"delete", "queue.delete"}},
	{regexp.MustCompile(`\bpurge \S+`), Term{"purge", "queue.purge: takes out all messages"}},
	{regexp.MustCompile(`\bget \S+`), Term{"get", "basic.get: takes one message out"}},
	{regexp.MustCompile(`\b405 RESOURCE_LOCKED`), Term{"405 RESOURCE_LOCKED", "the queue is exclusive to another connection: the command is refused, and the channel closed"}},
	{regexp.MustCompile(`\b404 NOT_FOUND`), Term{"404 NOT_FOUND", "no queue of that name is there: the command is refused, and the channel closed"}},
	{regexp.MustCompile(`\b406 PRECONDITION_FAILED`), Term{"406 PRECONDITION_FAILED", "the queue is there with other arguments, or in use: the command is refused, and the channel closed"}},
	{regexp.MustCompile(`\b403 ACCESS_REFUSED`), Term{"403 ACCESS_REFUSED", "that is not allowed: the command is refused, and the channel closed"}},
	{regexp.MustCompile(`\b320 CONNECTION_FORCED`), Term{"320 CONNECTION_FORCED", "the broker has ended the connection, and what was exclusive to it is gone"}},
	{regexp.MustCompile(`\b541 INTERNAL_ERROR`), Term{"541 INTERNAL_ERROR", "the broker failed, and has ended the channel or the connection"}},
	{regexp.MustCompile(`\bchannel\.(open|close)`), Term{"channel.open, channel.close", "a channel carries commands within a connection; closing one ends neither the connection nor what is exclusive to it"}},
	{regexp.MustCompile(`\bconfirm\.select`), Term{"confirm.select", "has the broker answer each message of the channel by ack or nack"}},
}

// withoutSlots changes the explanations for locks that have no slots: "the slot exists" becomes "the lock exists".
var withoutSlots = strings.NewReplacer("slot 1 of jobs", "jobs", "the slot exists", "the lock exists")

// Glossary explains the words of the glossary that occur in a text. The explanations mention slots only if kind is a
// semaphore.
func Glossary(text string, kind lock.Kind) (terms []Term) {
	for i := range glossary {
		if !glossary[i].find.MatchString(text) {
			continue
		}
		term := glossary[i].Term
		if kind != lock.Semaphore {
			term.Meaning = withoutSlots.Replace(term.Meaning)
		}
		terms = append(terms, term)
	}
	return terms
}
