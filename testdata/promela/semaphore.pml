/*
 * The persistent semaphore with its administration mutex, for Spin: what model/lock does with the
 * default options but pipeline=0, retries=2 and admin-retries=2, one command and its reply a step.
 * It is there to be compared with: the same states and the same transitions must come out.
 *
 *   spin -a -o2 -DNC=3 -DNK=1 -DNA=1 -DNS=2 -DNF=1 semaphore.pml
 *   gcc -O2 -DSAFETY -DNOREDUCE -o pan pan.c && ./pan -m1000000
 *
 * NC clients each acquire and release NK times. NA administrators each remove a slot, then add one.
 * There are NS slots to begin with, and NF clients or administrators may crash between two commands;
 * the broker notices at once. BUG takes RESOURCE_LOCKED for success.
 *
 * Every step is one option of an if: an expression or a d_step, and a goto, which costs none. So the
 * states are exactly those between two commands. A variable goes back to 0 with the operation that it
 * belongs to; -o2 keeps Spin from forgetting it earlier, as it would the slot of a claim that was lost.
 */

#ifndef NC
#define NC 2
#endif
#ifndef NK
#define NK 1
#endif
#ifndef NA
#define NA 1
#endif
#ifndef NS
#define NS 2
#endif
#ifndef NF
#define NF 1
#endif

#define RETRIES       2
#define ADMIN_RETRIES 2

#define HAS(set, s)   (((set) >> (s)) & 1)
#define SET(set, s)   set = set | (1 << (s))
#define CLEAR(set, s) set = set & ~(1 << (s))

/* What the broker has: A and B queues by slot, and the administration mutex. Whose a B queue is, its
 * owner knows by where it is. */
byte A = (1 << (NS + 1)) - 2;
byte B;
bit mutex;

byte believed;      /* slots that somebody was told to hold */
byte crashes = NF;  /* that may still happen */

#define END_ACQUIRE     tries = 0; slot = 0; round++
#define CRASH(can, gone) d_step { crashes > 0 && (can) -> crashes--; gone; slot = 0; tries = 0; round = 0 }; goto end_dead

active [NC] proctype client()
{
	unsigned slot : 4;
	unsigned tries : 2;
	unsigned round : 3;

end_idle:
	if
	:: d_step { round < NK && HAS(A, 1) -> slot = 1 }; goto probe_holder
	:: d_step { round < NK && !HAS(A, 1) -> round++ }; goto end_idle  /* full */
	:: CRASH(round < NK, skip)
	fi;

probe_slot:
	if
	:: HAS(A, slot) -> goto probe_holder
	:: d_step { !HAS(A, slot) -> END_ACQUIRE }; goto end_idle  /* full */
	:: CRASH(true, skip)
	fi;

probe_holder:
	if
	:: d_step { HAS(B, slot) -> slot++ }; goto probe_slot
	:: !HAS(B, slot) -> goto claim
	:: CRASH(true, skip)
	fi;

claim:
	if
	:: d_step { !HAS(B, slot) -> assert(!HAS(believed, slot)); SET(B, slot) }; goto confirm
	:: HAS(B, slot) -> goto open_channel  /* RESOURCE_LOCKED */
	:: CRASH(true, skip)
	fi;

open_channel:
	if
	:: true -> goto select_confirms
	:: CRASH(true, skip)
	fi;

select_confirms:
	if
#ifdef BUG
	:: true -> goto confirm
#else
	:: d_step { tries < RETRIES -> tries++; slot = 1 }; goto probe_slot
	:: d_step { tries == RETRIES -> END_ACQUIRE }; goto end_idle  /* gave up */
#endif
	:: CRASH(true, skip)
	fi;

confirm:
	if
	:: d_step { HAS(A, slot) -> assert(!HAS(believed, slot)); SET(believed, slot); tries = 0 }; goto holding
	:: !HAS(A, slot) -> goto withdraw
	:: CRASH(true, CLEAR(B, slot))
	fi;

withdraw:
	if
	:: d_step { true -> CLEAR(B, slot); END_ACQUIRE }; goto end_idle
	:: CRASH(true, CLEAR(B, slot))
	fi;

holding:
	if
	:: d_step { true -> CLEAR(B, slot); CLEAR(believed, slot); slot = 0; round++ }; goto end_idle
	:: CRASH(true, CLEAR(B, slot); CLEAR(believed, slot))
	fi;

end_dead:
	false
}

#define REMOVING 0
#define ADDING   1

#define BUSY(seen) \
	:: d_step { (seen) && tries < ADMIN_RETRIES -> tries++ }; goto probe_mutex; \
	:: d_step { (seen) && tries == ADMIN_RETRIES -> tries = 0; round++ }; goto end_idle

active [NA] proctype administrator()
{
	unsigned slot : 4;
	unsigned tries : 2;
	unsigned round : 3;

end_idle:
	if
	:: round <= ADDING && !mutex -> goto claim_mutex
	BUSY(round <= ADDING && mutex)
	:: CRASH(round <= ADDING, skip)
	fi;

probe_mutex:
	if
	:: !mutex -> goto claim_mutex
	BUSY(mutex)
	:: CRASH(true, skip)
	fi;

claim_mutex:
	if
	:: d_step { !mutex -> mutex = 1; slot = 1 }; goto measure
	:: mutex -> goto open_channel  /* RESOURCE_LOCKED */
	:: CRASH(true, skip)
	fi;

open_channel:
	if
	:: true -> goto select_confirms
	:: CRASH(true, skip)
	fi;

select_confirms:
	if
	BUSY(true)
	:: CRASH(true, skip)
	fi;

measure:  /* slot becomes the first that does not exist; to remove, the last that does */
	if
	:: d_step { HAS(A, slot) -> slot++ }; goto measure
	:: !HAS(A, slot) && round == ADDING -> goto grow
	:: d_step { !HAS(A, slot) && round == REMOVING && slot > 1 -> slot-- }; goto shrink
	:: d_step { !HAS(A, slot) && round == REMOVING && slot == 1 -> slot = 0 }; goto release_mutex
	:: CRASH(true, mutex = 0)
	fi;

grow:
	if
	:: SET(A, slot) -> goto release_mutex
	:: CRASH(true, mutex = 0)
	fi;

shrink:
	if
	:: CLEAR(A, slot) -> goto release_mutex
	:: CRASH(true, mutex = 0)
	fi;

release_mutex:
	if
	:: d_step { true -> mutex = 0; slot = 0; tries = 0; round++ }; goto end_idle
	:: CRASH(true, mutex = 0)
	fi;

end_dead:
	false
}
