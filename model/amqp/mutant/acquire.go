package mutant

import (
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/lock"
)

var acquiring = []*lock.Target{
	{
		Name: "no-second-probe", Breaks: "removal-drains",
		Doc: "acquire returns the slot that it claimed without looking whether it is still there",
		Fix: amqplock.Table.Fix(func(o *amqplock.Options) { o.VerifyFirst = false }),
	},
	{
		Name: "locked-is-success", Breaks: "mutual-exclusion",
		Doc: "acquire takes RESOURCE_LOCKED for success: the queue is there, after all",
		Design: with(bug{turn: func(_ *amqplock.Protocol, m *amqplock.Machine) {
			if m.Then == amqplock.Claiming && m.Decided {
				m.Seen = ^uint32(0)
			}
		}}),
	},
	{
		Name: "locked-is-full", Breaks: "progress",
		Doc: "acquire takes one RESOURCE_LOCKED for a full semaphore, whatever the other slots are",
		Design: with(bug{turn: func(_ *amqplock.Protocol, m *amqplock.Machine) {
			if m.Op == lock.Acquire && m.Tries > 0 && m.Link == amqplock.Up {
				end(m, lock.Result{Outcome: lock.Failed, Reason: lock.Full})
			}
		}}),
	},
	{
		Name: "probe-is-claim", Breaks: "mutual-exclusion",
		Doc:    "acquire returns the first slot that nobody holds, and claims nothing",
		Design: with(probeIsClaim),
	},
	{
		Name: "claim-unseen", Breaks: "cheap-acquire",
		Doc: "acquire claims slot after slot without looking first whether somebody holds it",
		Fix: amqplock.Table.Fix(func(o *amqplock.Options) { o.Claim, o.Pipeline = amqplock.ClaimUnseen, 0 }),
	},
	{
		Name: "scan-from-two", Breaks: "progress",
		Doc: "acquire counts from 0 and the queues from 1: it never looks at the first slot",
		Design: with(bug{turn: func(_ *amqplock.Protocol, m *amqplock.Machine) {
			if (m.Phase == amqplock.Scanning || m.Phase == amqplock.ScanningA) && m.Slot == 1 {
				m.Slot = 2
			}
		}}),
	},
	{
		Name: "first-slot-only", Breaks: "linearizable",
		Doc: "acquire says that all slots are taken once the first one is",
		Fix: amqplock.Table.Fix(func(o *amqplock.Options) { o.Pipeline = 0 }),
		Design: with(bug{turn: func(_ *amqplock.Protocol, m *amqplock.Machine) {
			if m.Phase == amqplock.ScanningA && m.Slot > 1 {
				end(m, lock.Result{Outcome: lock.Failed, Reason: lock.Full})
			}
		}}),
	},
	{
		Name: "retries-forever", Breaks: "progress",
		Doc: "acquire tries again after RESOURCE_LOCKED as often as it takes",
		Design: with(bug{turn: func(p *amqplock.Protocol, m *amqplock.Machine) {
			if m.Op == lock.Acquire && m.Result.Reason == lock.GaveUp {
				p.Start(m, lock.Acquire, 0)
			}
		}}),
	},
	{
		Name: "reconnects", Breaks: "cheap-acquire",
		Doc: "acquire opens a connection of its own every time",
		Design: with(bug{start: func(_ *amqplock.Protocol, m *amqplock.Machine) {
			if beginning(m, lock.Acquire) {
				redial(m, m.Phase)
			}
		}}),
	},
	{
		Name: "channel-each", Breaks: "cheap-acquire",
		Doc: "acquire opens a channel of its own every time",
		Design: with(bug{start: func(_ *amqplock.Protocol, m *amqplock.Machine) {
			if beginning(m, lock.Acquire) {
				rechannel(m, m.Phase)
			}
		}}),
	},
	{
		Name: "claim-survives", Breaks: "mutual-exclusion",
		Doc: "acquire runs on a driver that connects again by itself, and trusts the claim that it made before",
		Design: with(bug{turn: func(_ *amqplock.Protocol, m *amqplock.Machine) {
			if broke(m, lock.Acquire) && m.Result.Outcome == lock.Unknown {
				redial(m, amqplock.Confirming)
			}
		}}),
	},
	{
		Name: "leaks-on-withdrawal", Breaks: "no-leak",
		Doc: "acquire sees that its slot went away, says so, and keeps the B queue with which it had claimed it",
		Design: with(bug{turn: func(_ *amqplock.Protocol, m *amqplock.Machine) {
			if m.Phase == amqplock.Withdrawing {
				end(m, lock.Result{Outcome: lock.Failed, Reason: lock.Withdrawn, Slot: m.Slot})
			}
		}}),
	},
	{
		Name: "timeout-is-refusal", Breaks: "no-leak",
		Doc: "acquire takes a claim that was not answered in time for one that was refused, and goes on",
		Design: with(bug{turn: func(_ *amqplock.Protocol, m *amqplock.Machine) {
			if m.Op == lock.Acquire && m.Result.Outcome == lock.Unknown && m.Result.Reason == lock.TimedOut {
				m.Link = amqplock.Up
				end(m, lock.Result{Outcome: lock.Failed, Reason: lock.Full})
			}
		}}),
	},
	{
		Name: "mutex-probe-is-claim", Kind: lock.Mutex, Breaks: "mutual-exclusion",
		Doc:    "the true mutex is taken by seeing that nobody has it",
		Design: with(probeIsClaim),
	},
	{
		Name: "mutex-claim-unseen", Kind: lock.Mutex, Breaks: "cheap-acquire",
		Doc: "the true mutex is claimed without looking first: whoever does not get it loses a channel",
		Fix: amqplock.Table.Fix(func(o *amqplock.Options) { o.Claim = amqplock.ClaimUnseen }),
	},
	{
		Name: "persistent-mutex-unseen", Kind: lock.PersistentMutex, Breaks: "no-phantom-slot",
		Doc: "the persistent mutex cuts corners: acquire never looks whether it is there",
		Fix: amqplock.Table.Fix(func(o *amqplock.Options) { o.Pipeline, o.VerifyFirst = 0, false }),
		Design: with(bug{turn: func(_ *amqplock.Protocol, m *amqplock.Machine) {
			if m.Phase == amqplock.ScanningA {
				enter(m, amqplock.ScanningB)
			}
		}}),
	},
}

var probeIsClaim = bug{turn: func(_ *amqplock.Protocol, m *amqplock.Machine) {
	if m.Phase == amqplock.Claiming {
		believe(m)
	}
}}
