/*
 * One job J and its servers: accepted once, started once, moved without being lost
 * or doubled, held without being stuck, always settled.
 *
 * README.md says what is covered and how the states here map to those of
 * server/site. Rules are changed here first.
 *
 * Run (Spin 6.5), or `make model`, which also runs every planted fault:
 *   spin -a -DN=2 -DMAXE=2 move.pml
 *   gcc -O2 -DSAFETY -DCOLLAPSE -DNOREDUCE -DVECTORSZ=2048 -o pan pan.c && ./pan -m2000000 -w24
 * Shortest counterexample of a fault: compile with -DBFS in place of -DCOLLAPSE, run
 * ./pan, then spin -t -p with the same -D flags.
 * That there is no cycle (below): gcc ... -DNP without -DSAFETY, then ./pan -l.
 *
 * How it is modelled
 * - One d_step is one durable write with what is sent at once after it, so a
 *   crash can fall between any two. A crash loses what is volatile (out[]); what
 *   is MOVING is aborted on restart. Not being scheduled is being down.
 * - A message once sent stays in its set: it may arrive never, late, many times
 *   and in any order. Orders (Move, Hold, Place) have no set: any order may arrive
 *   at any time, which covers stale and doubled ones, and those of another round.
 *   The same holds for a client's cancel.
 * - An attempt has the key (epoch under which the server got J, attempt). Launches
 *   under way (ask[]) are a set of keys like other messages. A launch makes the
 *   claim of its key, or finds it made. Then the gate opens and J runs, or whoever
 *   made the claim dies before: provably never ran (nev[]). The server learns of
 *   either later.
 * - Two kinds of batch system, both at every site at any time. Gated: the server
 *   writes STARTING and then asks for the launch. Self-starting (Slurm): J is
 *   submitted while WAITING, and starts unseen. Sites in GATED are not of that kind.
 * - HELD ends at any time (a lease that runs out, or Place with "stay"). That J may
 *   start while HELD covers a hold that reaches the batch system late, or never.
 * - The client submits to server 0, and to the next one only when it was answered
 *   "withdrawn". It may stop at any point. A refusal (drained, no plan, disk full)
 *   writes nothing and so changes nothing: a double of that Submit may be accepted.
 * - A restart resumes its YIELDING, its cancel or its STARTING from the beginning.
 * - Resolving by an operator is left out: it has no proof, so no model finds it sound.
 *   T told "committed" doubles J where S has started it, or comes back and does. T
 *   told "aborted" loses J where S had committed. S taking J back doubles it where T
 *   has heard Confirm, or hears one that is still under way.
 *
 * Safety: CHECK, in every step, and the other assertions. At most one server ever
 * accepts J by Submit; at most one server can ever start, runs or has run J; J starts
 * at most once; from its acceptance on exactly one server has authority, or one is
 * GONE(T, e) with its full record and T holds INCOMING(e); only a client's cancel kills
 * J; CANCELLED is never answered for a job that starts later or ended; "withdrawn" is
 * never answered where J was or will be accepted by Submit.
 * Liveness: from any state faults, time-outs and orders may stop (calm); for each
 * epoch all that is under way is then lost, or kept. The model has no cycle (every
 * cycle would be a non-progress cycle; pan -l finds none), so every run ends, and
 * where it ends Rest asserts that all is settled.
 *
 * Checked, exhaustively (a client's cancel included), no error; one core of a busy machine:
 *   N  MAXE  CRASHES  without, or with               states     depth  time
 *   2  2     2        whole                           9 180 168    68    43 s
 *   2  2     1        HOLDS=2                         9 493 624    68    35 s
 *   2  4     2        NOWDRAW NOHELD NOFAIL           7 280 518    70    96 s
 *   2  3     1        NOWDRAW NOHELD                 12 322 148    74    210 s
 *   2  2     2        MAXA=3 NOWDRAW NOHELD           9 829 718    77    31 s
 *   2  3     2        NOWDRAW NOFAIL HOLDS=2          2 643 248    62    26 s
 *   2  3     2        NOHELD NOFAIL                   3 141 320    65    32 s
 *   3  3     1        NOWDRAW NOHELD NOFAIL           5 931 086    65    26 s
 *   3  2     1        NOWDRAW NOHELD                  3 692 586    67    10 s
 *   3  2     1        NOWDRAW NOFAIL                    558 700    55    1 s
 *   3  2     1        NOHELD NOFAIL                   1 536 102    62    4 s
 *   2  2     2        V_NOCLAIM NOSELF                4 487 188    70    17 s
 *   3  2     1        V_NOCLAIM NOSELF NOWDRAW        3 861 632    70    11 s
 *   2  3     1        NOWDRAW                        27 039 682    75    180 s
 * No cycle: (2, 2, 1) with everything, 12 290 847 states. For the other bounds by
 * argument: each step raises a counter or adds a bit that is never taken back within
 * one epoch.
 * Not finished: everything with (3, 2, 1) within 6 GB: 31 944 120 states in 292 s,
 * depth 73, no error; everything with (2, 3, 1) was not tried.
 *
 * Switches: every one makes pan report an error, also with -DN=2 -DMAXE=2 -DCRASHES=1;
 * README.md says what then happens.
 *   PLANT_A     an aborted epoch is used again
 *   PLANT_B     T drops INCOMING on silence
 *   PLANT_C     Confirm is sent before GONE is durable
 *   PLANT_D     GONE is collected before Confirm's acknowledgement
 *   L_RESOLVE   a Resolve for a lower epoch is answered SUPERSEDED
 *   L_NOASK     T does not ask; Drop is sent once
 *   L_SUPACK    SUPERSEDED does not acknowledge a Confirm
 *   L_LATE      taking out claims nothing: a launch under way comes through later
 *   L_KILLS     taking out kills J when it has just started
 *   L_CLAIM     claims by job alone: used up for ever when J comes back
 *   L_DROPALL   dropping INCOMING forgets what was known of J before
 *   L_FORGET    a collected GONE forgets J while old messages are about
 *   L_SELF      a Move to the server itself is obeyed
 *   L_CANCEL    CANCELLED is answered before J is known to be out
 *   L_YCANCEL   a cancel in YIELDING is applied at once
 *   L_RECORDED  a cancel recorded by INCOMING counts as the client's answer
 *  starting (V_NOCLAIM is no fault: a GATED site hands J over without a claim, as
 *  J is then MOVING under an attempt that is not STARTING):
 *   PLANT_S     the number of the next attempt is not durable before its launch
 *   L_SYNC      STARTING is not durable before the launch
 *   L_RECOVER   recovery of STARTING goes to the next attempt without the claim
 *   L_REUSE     after an attempt that never ran its number is used again
 *   L_BYEPOCH   claims by (J, epoch) alone
 *   L_NEVERWAIT that an attempt never ran is heeded in STARTING only
 *   L_GATE      "never ran" is said of one whose gate was open
 *   L_OWN       the server's own claim of before its restart counts as lost
 *   L_STARTMOVE a Move is obeyed in STARTING; wrong with V_NOCLAIM only
 *  holding:
 *   PLANT_LEASE T takes the end of a lease for an abort
 *   L_NOLEASE   a Hold does not end by itself
 *   L_HOLDSTART a J moved out of HELD is taken out without a claim
 *  submitting:
 *   PLANT_W     without an answer the client goes to the next server
 *   L_REFUSAL   the client takes a refusal for a withdrawal
 *   L_WVOL      "withdrawn" is not durable
 *   L_WGONE     "withdrawn" is answered wherever J is not
 *   L_WDROP     dropping INCOMING forgets that J was withdrawn
 */
#ifndef N
#define N 2			/* servers */
#endif
#ifndef MAXE
#define MAXE 2			/* move attempts, aborted ones included */
#endif
#ifndef CRASHES
#define CRASHES 1
#endif
#ifndef CANCEL
#define CANCEL 1		/* a client may want J cancelled */
#endif
#ifdef NOFAIL
#define MAXA 1
#endif
#ifndef MAXA
#define MAXA 2			/* attempts at one server under one epoch; the last one does not fail */
#endif
#ifdef NOHELD
#define HOLDS 0
#endif
#ifndef HOLDS
#define HOLDS 1			/* Holds that are obeyed */
#endif

#ifdef NOSELF
#define GATED 7
#endif
#ifndef GATED
#define GATED 0			/* bit s: the batch system of s starts nothing unasked */
#endif

/* states of J's record at one server */
#define NONE	0	/* no record, or one that was dropped */
#define WAIT	1
#define MOV	2	/* MOVING(peer, ep) */
#define YIELD	3	/* YIELDING(peer, ep) */
#define GONE	4	/* GONE(gp, ge) */
#define INC	5	/* INCOMING(peer, ep) */
#define STOPC	6	/* CANCELLING: cancel written, J not yet known to be out */
#define RUN	7	/* known to have started */
#define DONE	8
#define CANC	9
#define HELD	10
#define STRT	11	/* STARTING: the launch may be asked for, or J's claim was lost */

/* J's process at one site */
#define OUT	0	/* never was */
#define STARTED	1
#define ENDED	2
#define KILLED	3

/* durable, per server */
byte st[N];
byte ep[N];	/* highest epoch seen */
byte ke[N];	/* epoch under which this server got J */
byte at[N];	/* attempt */
byte peer[N];
byte ge[N];	/* last epoch this server committed, 0: none */
byte gp[N];	/* to whom */
bool acked[N];	/* Confirm(ge) acknowledged */
bool kept[N];	/* full record of a GONE job still here */
byte asg[N];	/* bit e: epoch e was assigned here */
byte com[N];	/* bit e: epoch e was committed here */
bool can[N];	/* a cancel is recorded */
bool wd[N];	/* withdrawn: never accepted by Submit, never will be */
bool sa[N];	/* accepted by Submit */
/* volatile, per server */
bool out[N];	/* has competed for the claim since its last restart */
#ifdef PLANT_S
byte dat[N];	/* the attempt as the disk has it */
#endif
/* the sites, each a set of keys: not touched by a server's crash */
short ask[N];	/* launches under way whose claim is not made */
short csup[N];	/* claimed by a launch */
short csrv[N];	/* claimed by the server */
short nev[N];	/* claimed by a launch that died before the gate opened */
short ran[N];	/* the gate was opened */
byte bs[N];

/* The network: a message once sent is in its set for good, so it may arrive
   never, late, twice, in any order. Bit from*N+to of set[epoch]. */
short Rsv[MAXE+1], Rok[MAXE+1], Drp[MAXE+1], Cnf[MAXE+1], Ack[MAXE+1];
#define BIT(a,b)	(1 << ((a)*N+(b)))
#define SENT(set,e,a,b)	((set[e] & BIT(a,b)) != 0)
#define PUT(set,e,a,b)	set[e] = set[e] | BIT(a,b)
#define ONE(k)		(1 << (k))
/* between the client and the servers: bit s of the set */
byte Sub, Wdr, Sok, Wok;	/* Submit, Withdraw, "accepted", "withdrawn" */
#ifdef L_REFUSAL
byte Ref;		/* Submit refused, with nothing written: drained, no plan, disk full */
#endif

bool calm;		/* no more faults, orders, or time-outs */
byte crashes, holds;
bool want;		/* the client wants a cancel */
byte cur;		/* the server the client submits to */
#if defined(L_HOLDSTART) || defined(PLANT_LEASE)
byte washeld;		/* bit e: that move began from HELD */
#endif
/* observers */
byte starts, accepts;
byte accby;		/* bit s: s has accepted J by Submit */
bool saidcancelled;
#ifdef L_RECORDED
bool forgotten;
#endif

/* the key of the attempt that s is at */
#ifdef L_CLAIM
#define KEY(s)	0
#else
#ifdef L_BYEPOCH
#define KEY(s)	(ke[s]*MAXA)
#else
#define KEY(s)	(ke[s]*MAXA + at[s])
#endif
#endif
#define HAS(set,s)	((set[s] & ONE(KEY(s))) != 0)
#define FREE(s)		(((csup[s] | csrv[s]) & ONE(KEY(s))) == 0)
#define PEND(s)		(csup[s] & ~nev[s] & ~ran[s])

#define AUTH(s)	(st[s]==WAIT || st[s]==HELD || st[s]==STRT || st[s]==MOV || st[s]==YIELD || st[s]==STOPC || st[s]==RUN || st[s]==DONE || st[s]==CANC)
#define LIVE(s)	(AUTH(s) || ask[s]!=0 || PEND(s)!=0 || bs[s]==STARTED || bs[s]==ENDED)
#define HANDOVER(s) (!AUTH(s) && ge[s]!=0 && kept[s] && st[gp[s]]==INC && ep[gp[s]]==ge[s] && peer[gp[s]]==s)
#if N==2
#define SUM(P) (P(0)+P(1))
#else
#define SUM(P) (P(0)+P(1)+P(2))
#endif
#define CHECK	assert(SUM(LIVE) <= 1); assert(SUM(LIVE)+SUM(HANDOVER) == accepts)

#define OK(s)	((st[s]==NONE || st[s]==GONE || st[s]==DONE || st[s]==CANC) && (ge[s]==0 || acked[s]))
#define END(s)	(st[s]==DONE || st[s]==CANC)

inline cancelled(s) {
	st[s] = CANC;
	saidcancelled = true;
#ifndef L_CANCEL
	assert(bs[s]==OUT || bs[s]==KILLED);
	assert(ask[s]==0 && PEND(s)==0)
#endif
}
inline abort(s) {	/* ABORTED(e) is durable, then Drop is sent, once */
	PUT(Drp, ep[s], s, peer[s]);
#ifdef PLANT_A
	asg[s] = asg[s] & ~(1<<ep[s]);
	ep[s]--;
#endif
	out[s] = false;
}
inline claims(s) {	/* the server competes for the claim; a launch under way is then void */
	if
	:: FREE(s) -> csrv[s] = csrv[s] | ONE(KEY(s)); ask[s] = ask[s] & ~ONE(KEY(s))
	:: else
	fi
}
/* taking J out: by the claim */
#ifdef L_LATE
#define CLAIMS(s)	false
#else
#ifdef L_HOLDSTART
#define CLAIMS(s)	(!(st[s]==YIELD && (washeld & (1<<ep[s]))))
#else
#ifdef V_NOCLAIM
#define CLAIMS(s)	(st[s]!=YIELD || (GATED & ONE(s))==0)
#else
#define CLAIMS(s)	true
#endif
#endif
#endif
inline takeout(s) {
#ifdef L_KILLS
	if
	:: bs[s]==STARTED -> bs[s] = KILLED
	:: else
	fi;
#endif
	if
	:: CLAIMS(s) -> claims(s)
	:: else
	fi;
	out[s] = true
}
#ifdef L_NEVERWAIT
#define HEARS	false
#else
#define HEARS	true
#endif
#ifdef L_REUSE
#define NEXT(s)	skip
#else
#define NEXT(s)	at[s] = at[s] + 1
#endif

inline dropped(x) {	/* back to what was known of J before the Reserve */
#ifdef L_RECORDED
	if
	:: can[x] -> forgotten = true
	:: else
	fi;
#endif
	can[x] = false;
#ifdef L_WDROP
	wd[x] = false;
#endif
	if
#ifndef L_DROPALL
	:: ge[x]!=0 -> st[x] = GONE
#endif
	:: else -> st[x] = NONE;
#ifdef L_DROPALL
		ep[x] = 0; ge[x] = 0; acked[x] = false; sa[x] = false
#endif
	fi
}

/* What happens at site s to a launch with key k. The last attempt does not fail. */
#define DIES(k)	(!calm && (k)%MAXA < MAXA-1)
#ifdef L_GATE
#define UNSEEN(s,k)	(bs[s]==STARTED || (ran[s] & ONE(k))==0)
#else
#define UNSEEN(s,k)	((ran[s] & ONE(k))==0)
#endif
#define LAUNCH(k) \
	:: d_step { (ask[s] & ONE(k)) -> \
		ask[s] = ask[s] & ~ONE(k); csup[s] = csup[s] | ONE(k); CHECK } \
	:: d_step { (PEND(s) & ONE(k)) -> \
		ran[s] = ran[s] | ONE(k); bs[s] = STARTED; starts++; \
		assert(starts==1); assert(!saidcancelled); NOTFORGOTTEN; CHECK } \
	:: d_step { DIES(k) && (csup[s] & ONE(k)) && (nev[s] & ONE(k))==0 && UNSEEN(s,k) -> \
		nev[s] = nev[s] | ONE(k); CHECK }
#ifdef L_RECORDED
#define NOTFORGOTTEN	assert(!forgotten)
#else
#define NOTFORGOTTEN	skip
#endif

/* Submit: a message, or, without the client, one that may be doubled for ever */
#ifdef NOWDRAW
#define SUBMIT(s)	(s==0 && !calm)
#else
#define SUBMIT(s)	((Sub & ONE(s)) != 0)
#endif

proctype Server(byte s) {
end:	do
	/* --- submitting once --- */
	:: d_step { SUBMIT(s) && st[s]==NONE && !sa[s] && !wd[s] ->
		st[s] = WAIT; ke[s] = 0; at[s] = 0; sa[s] = true;
		accepts++; accby = accby | ONE(s); Sok = Sok | ONE(s);
		assert(accepts==1); assert((Wok & ONE(s))==0);
		CHECK }
#ifdef L_REFUSAL
	:: d_step { !calm && SUBMIT(s) && st[s]==NONE && !sa[s] -> Ref = Ref | ONE(s) }
#endif
#ifndef NOWDRAW
#ifdef L_WGONE
	:: d_step { (Wdr & ONE(s)) && !AUTH(s) && (Wok & ONE(s))==0 ->
#else
	:: d_step { (Wdr & ONE(s)) && !sa[s] && (!wd[s] || (Wok & ONE(s))==0) ->
#endif
		wd[s] = true; Wok = Wok | ONE(s);
		assert((accby & ONE(s))==0) }
#endif
	/* --- starting once --- */
#if GATED != 7
	:: d_step { (GATED & ONE(s))==0 && st[s]==WAIT && FREE(s) && !HAS(ask,s) -> ask[s] = ask[s] | ONE(KEY(s)); CHECK }
#endif
#ifndef NOGATE
	:: d_step { (st[s]==WAIT || (!calm && (st[s]==HELD || st[s]==MOV))) && FREE(s) ->
		if
		:: st[s]==MOV -> abort(s)
		:: else
		fi;
		st[s] = STRT; CHECK }
	:: d_step { st[s]==STRT && FREE(s) && !HAS(ask,s) -> ask[s] = ask[s] | ONE(KEY(s)); CHECK }
#endif
	LAUNCH(0)
#if (MAXE+1)*MAXA > 1
	LAUNCH(1)
#endif
#if (MAXE+1)*MAXA > 2
	LAUNCH(2)
#endif
#if (MAXE+1)*MAXA > 3
	LAUNCH(3)
#endif
#if (MAXE+1)*MAXA > 4
	LAUNCH(4)
#endif
#if (MAXE+1)*MAXA > 5
	LAUNCH(5)
#endif
#if (MAXE+1)*MAXA > 6
	LAUNCH(6)
#endif
#if (MAXE+1)*MAXA > 7
	LAUNCH(7)
#endif
#if (MAXE+1)*MAXA > 8
	LAUNCH(8)
#endif
#if (MAXE+1)*MAXA > 9
	LAUNCH(9)
#endif
#if (MAXE+1)*MAXA > 10
	LAUNCH(10)
#endif
#if (MAXE+1)*MAXA > 11
	LAUNCH(11)
#endif
#if (MAXE+1)*MAXA > 12
#error "at most 12 keys"
#endif
	:: d_step { bs[s]==STARTED -> bs[s] = ENDED; assert(!saidcancelled) }
	:: d_step { (st[s]==WAIT || st[s]==HELD || st[s]==MOV || st[s]==STRT) && (bs[s]==STARTED || bs[s]==ENDED) ->
		if
		:: st[s]==MOV -> abort(s)
		:: else
		fi;
		st[s] = RUN; CHECK }
	/* provably never ran: the next attempt */
	:: d_step { (st[s]==STRT || (HEARS && (st[s]==WAIT || st[s]==HELD || st[s]==MOV))) && HAS(nev,s) && at[s]<MAXA-1 ->
		NEXT(s);
		if
		:: st[s]==STRT && can[s] -> cancelled(s)
		:: st[s]==STRT && !can[s] -> st[s] = WAIT
		:: else
		fi; CHECK }
	/* recovery, or nobody answers the launch: the server competes; won: the next attempt */
#ifdef L_RECOVER
	:: d_step { !calm && st[s]==STRT && FREE(s) && at[s]<MAXA-1 -> NEXT(s); st[s] = WAIT; CHECK }
#else
	:: d_step { !calm && st[s]==STRT && FREE(s) && at[s]<MAXA-1 -> claims(s);
#ifdef L_OWN
		out[s] = true;
#endif
		CHECK }
#endif
#ifdef L_OWN
	:: d_step { st[s]==STRT && HAS(csrv,s) && at[s]<MAXA-1 && out[s] -> out[s] = false; NEXT(s); st[s] = WAIT; CHECK }
#else
	:: d_step { st[s]==STRT && HAS(csrv,s) && at[s]<MAXA-1 -> NEXT(s); st[s] = WAIT; CHECK }
#endif
	:: d_step { st[s]==RUN && bs[s]==ENDED -> st[s] = DONE }
	:: d_step { st[s]==RUN && can[s] && bs[s]==STARTED -> bs[s] = KILLED }
	:: d_step { st[s]==RUN && bs[s]==KILLED ->
		assert(can[s]);	/* nobody but a client's cancel kills J */
		cancelled(s); CHECK }
#ifdef PLANT_S
	:: d_step { dat[s]!=at[s] && (st[s]!=WAIT && st[s]!=STRT) -> dat[s] = at[s] }
#endif
	/* --- holding --- */
#if HOLDS
	:: d_step { !calm && st[s]==WAIT && holds<HOLDS -> holds++; st[s] = HELD; CHECK }
#ifdef L_NOLEASE
	:: d_step { !calm && st[s]==HELD -> st[s] = WAIT; CHECK }
#else
	:: d_step { st[s]==HELD -> st[s] = WAIT; CHECK }
#endif
#endif
	/* --- step 1 --- */
	:: d_step { st[s]==MOV && !SENT(Rsv,ep[s],s,peer[s]) -> PUT(Rsv,ep[s],s,peer[s]) }
	/* --- step 2: gain too small, or time-out --- */
	:: d_step { !calm && st[s]==MOV -> abort(s); st[s] = WAIT; CHECK }
	/* --- step 3 --- */
	:: d_step { st[s]==MOV && SENT(Rok,ep[s],peer[s],s) ->
		st[s] = YIELD; out[s] = false;
#ifdef PLANT_C
		PUT(Cnf,ep[s],s,peer[s]);
#endif
		CHECK }
	:: d_step { (st[s]==YIELD || st[s]==STOPC) && !out[s] -> takeout(s); CHECK }
	:: d_step { (st[s]==YIELD || st[s]==STOPC) && out[s] ->
		if
		:: bs[s]!=OUT || (HAS(csup,s) && !HAS(nev,s)) ->	/* claim lost: it did start, or may */
			if
			:: st[s]==YIELD -> abort(s)
			:: else -> out[s] = false
			fi;
			if
			:: bs[s]!=OUT -> st[s] = RUN
			:: else -> st[s] = STRT
			fi
		:: else ->	/* claim won, or made by a launch that never ran */
			if
			:: can[s] ->
				if
				:: st[s]==YIELD -> abort(s)
				:: else -> out[s] = false
				fi;
				cancelled(s)
			:: else ->
				st[s] = GONE; ge[s] = ep[s]; gp[s] = peer[s]; com[s] = com[s] | (1<<ep[s]);
				acked[s] = false; kept[s] = true; out[s] = false
			fi
		fi; CHECK }
	/* never ran: keeping J is as sound as letting it go */
	:: d_step { st[s]==YIELD && out[s] && !can[s] && HAS(nev,s) && bs[s]==OUT && at[s]<MAXA-1 ->
		abort(s); NEXT(s); st[s] = WAIT; CHECK }
	/* --- step 4 --- */
	:: d_step { ge[s]!=0 && kept[s] && !acked[s] && !SENT(Cnf,ge[s],s,gp[s]) -> PUT(Cnf,ge[s],s,gp[s]) }
#ifdef PLANT_D
	:: d_step { !calm && st[s]==GONE && kept[s] -> kept[s] = false; CHECK }
#else
	:: d_step { !calm && st[s]==GONE && kept[s] && acked[s] -> kept[s] = false;
#ifdef L_FORGET
		st[s] = NONE; ep[s] = 0; ge[s] = 0; asg[s] = 0; com[s] = 0; acked[s] = false; sa[s] = false; wd[s] = false;
#endif
		CHECK }
#endif
#ifdef PLANT_B
	:: d_step { !calm && st[s]==INC -> dropped(s); CHECK }
#endif
#ifdef PLANT_LEASE
	:: d_step { !calm && st[s]==INC && (washeld & (1<<ep[s])) -> dropped(s); CHECK }
#endif
	/* --- a client's cancel, any number of times --- */
	:: d_step { want && (st[s]==WAIT || st[s]==HELD || st[s]==STRT || st[s]==MOV) && !can[s] ->
#ifdef L_CANCEL
		if
		:: st[s]==MOV -> abort(s)
		:: else
		fi;
		can[s] = true; cancelled(s);
#else
		if
		:: st[s]==MOV -> abort(s)
		:: else
		fi;
		can[s] = true; st[s] = STOPC; out[s] = false;
#endif
		CHECK }
#ifdef L_CANCEL
	:: d_step { st[s]==CANC && ask[s]!=0 -> ask[s] = 0 }
#endif
	:: d_step { want && st[s]==YIELD && !can[s] ->
		can[s] = true;
#ifdef L_YCANCEL
		abort(s); cancelled(s);
#endif
		CHECK }
#ifdef L_RECORDED
	:: d_step { want && st[s]==INC && !can[s] -> can[s] = true; want = false }
	:: d_step { want && st[s]==RUN && !can[s] -> can[s] = true }
#else
	:: d_step { want && (st[s]==INC || st[s]==RUN) && !can[s] -> can[s] = true }
#endif
	/* --- crash and restart --- */
	:: d_step { !calm && crashes<CRASHES && (st[s]==MOV || out[s]
#ifdef L_WVOL
		|| wd[s]
#endif
#ifdef PLANT_S
		|| dat[s]!=at[s]
#endif
#ifdef L_SYNC
		|| st[s]==STRT
#endif
		) ->
		crashes++;
		if
		:: st[s]==MOV -> abort(s); st[s] = WAIT
		:: else
		fi;
#ifdef L_WVOL
		wd[s] = false;
#endif
#ifdef PLANT_S
		at[s] = dat[s];
#endif
#ifdef L_SYNC
		if
		:: st[s]==STRT && !can[s] -> st[s] = WAIT
		:: else
		fi;
#endif
		out[s] = false; CHECK }
	od
}

#ifdef L_SELF
#define FRESH(e)	((e > ep[b] && !AUTH(b)) || (a==b && e==ep[b] && st[b]==MOV))
#else
#define FRESH(e)	(e > ep[b] && !AUTH(b))
#endif

/* what travels from a to b */
#define ARRIVE(e) \
	:: d_step { SENT(Rsv,e,a,b) && FRESH(e) -> \
		if \
		:: ge[b]!=0 -> acked[b] = true \
		:: else \
		fi; \
		st[b] = INC; ep[b] = e; peer[b] = a; can[b] = false; PUT(Rok,e,b,a); CHECK } \
	:: d_step { SENT(Rsv,e,a,b) && e==ep[b] && peer[b]==a && !SENT(Rok,e,b,a) && !(asg[b] & (1<<e)) -> PUT(Rok,e,b,a) } \
	:: d_step { SENT(Rsv,e,a,b) && e > ep[b] && AUTH(b) && a!=b -> assert(false) } \
	:: d_step { SENT(Cnf,e,a,b) && (e > ep[b] || (e==ep[b] && st[b]==INC && peer[b]!=a)) -> assert(false) } \
	:: d_step { SENT(Drp,e,a,b) && st[b]==INC && ep[b]==e && peer[b]==a -> dropped(b); CHECK } \
	:: d_step { SENT(Cnf,e,a,b) && st[b]==INC && ep[b]==e && peer[b]==a -> \
		ke[b] = e; at[b] = 0; \
		if \
		:: can[b] -> cancelled(b) \
		:: else -> st[b] = WAIT \
		fi; \
		PUT(Ack,e,b,a); CHECK } \
	:: d_step { (SENT(Cnf,e,a,b) || SENT(Rsv,e,a,b)) && AGAIN(e) && !SENT(Ack,e,b,a) -> PUT(Ack,e,b,a) } \
	:: d_step { SENT(Ack,e,a,b) && ge[b]==e && gp[b]==a && !acked[b] -> acked[b] = true; CHECK } \
	RESOLVE(e)

/* Acknowledged, or SUPERSEDED: which of the two, and whether to a Confirm or to a
   doubled Reserve, S need not tell apart. */
#ifdef L_SUPACK
#define AGAIN(e)	(ep[b]==e && st[b]!=INC)
#else
#define AGAIN(e)	(ep[b]>e || (ep[b]==e && st[b]!=INC))
#endif

/* b, INCOMING(a, e), asks a Resolve(J, e) until it is answered */
#ifdef L_RESOLVE
#define ANSWERS(e)	(ep[a]==e)
#else
#define ANSWERS(e)	true
#endif
#ifdef L_NOASK
#define RESOLVE(e)
#else
#define RESOLVE(e) \
	:: d_step { st[b]==INC && ep[b]==e && peer[b]==a && ANSWERS(e) && (asg[a] & (1<<e)) && (com[a] & (1<<e))==0 && \
		!((st[a]==MOV || st[a]==YIELD) && ep[a]==e) && !SENT(Drp,e,a,b) -> PUT(Drp,e,a,b) } \
	:: d_step { st[b]==INC && ep[b]==e && peer[b]==a && ANSWERS(e) && (com[a] & (1<<e)) && kept[a] && \
		!SENT(Cnf,e,a,b) -> PUT(Cnf,e,a,b) }
#endif

#ifdef L_STARTMOVE
#define EARLY(s)	(st[s]==STRT && FREE(s))
#else
#define EARLY(s)	false
#endif

proctype Wire(byte a; byte b) {
end:	do
	/* step 0: an order Move(J, b), or a Place, reaches a: fresh, stale or doubled */
	:: d_step { !calm && (st[a]==WAIT || st[a]==HELD || EARLY(a)) && !can[a] && ep[a]<MAXE ->
		ep[a]++;
#if defined(L_HOLDSTART) || defined(PLANT_LEASE)
		if
		:: st[a]==HELD -> washeld = washeld | (1<<ep[a])
		:: else
		fi;
#endif
		st[a] = MOV; peer[a] = b; asg[a] = asg[a] | (1<<ep[a]); CHECK }
	ARRIVE(1)
#if MAXE>1
	ARRIVE(2)
#endif
#if MAXE>2
	ARRIVE(3)
#endif
#if MAXE>3
	ARRIVE(4)
#endif
	od
}

#define LOSE(e)	\
	if \
	:: true \
	:: Rsv[e] = 0; Rok[e] = 0; Drp[e] = 0; Cnf[e] = 0; Ack[e] = 0 \
	fi
#define UNASK(s)	\
	if \
	:: true \
	:: ask[s]!=0 -> ask[s] = 0 \
	fi

active proctype Rest() {
	/* faults stop; for each epoch all that is under way is lost, or kept; launches too */
	atomic { !calm -> calm = true;
		UNASK(0); UNASK(1);
#if N>2
		UNASK(2);
#endif
		LOSE(1);
#if MAXE>1
		LOSE(2);
#endif
#if MAXE>2
		LOSE(3);
#endif
#if MAXE>3
		LOSE(4);
#endif
	}
	timeout;
	assert(SUM(OK) == N);		/* all is settled: */
	assert(SUM(END) == accepts);	/* J has its one end, if anybody accepted it */
	assert(!want || saidcancelled || starts==1 || accepts==0);
}

#if CANCEL
active proctype Client() {
	if	/* cancels, at any time, until answered; or never */
	:: want = true
	:: true
	fi
}
#endif

#ifndef NOWDRAW
active proctype Submitter() {
	/* Without an answer it may ask for a withdrawal; it may stop anywhere. */
end:	do
	:: d_step { !calm && (Sok & ONE(cur))==0 && (Wdr & ONE(cur))==0 -> Wdr = Wdr | ONE(cur) }
#ifdef L_REFUSAL
	:: d_step { !calm && cur<N-1 && (Ref & ONE(cur)) -> cur++; Sub = Sub | ONE(cur) }
#endif
#ifdef PLANT_W
	:: d_step { !calm && cur<N-1 && (Sok & ONE(cur))==0 -> cur++; Sub = Sub | ONE(cur) }
#else
	:: d_step { !calm && cur<N-1 && (Wok & ONE(cur)) -> cur++; Sub = Sub | ONE(cur) }
#endif
	od
}
#endif

init {
	atomic {
#ifdef NOWDRAW
		st[0] = WAIT; sa[0] = true; accby = 1; accepts = 1; Sok = 1;
#else
		Sub = 1;
#endif
#ifdef L_SELF
		run Wire(0,0);
#endif
		run Server(0); run Server(1); run Wire(0,1); run Wire(1,0);
#if N>2
		run Server(2); run Wire(0,2); run Wire(2,0); run Wire(1,2); run Wire(2,1);
#endif
	}
}
