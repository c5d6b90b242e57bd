/* The decision about one step: protocol/arbiter.py, protocol/stance.py and protocol/tail.py, under the same names.

   SEATS seats, of which LIARS lie (they support everything, at any time, to anybody); the others follow the rules.  The
   entry of one seat is in question.  CLOSINGS says how the step can be closed:
     2   the entry is late:                              1 = with the entry, 2 = ABSENT
     3   there are two, for its author equivocates:      1, 2 = with the one or the other, 3 = ABSENT

   What the seats have signed is a growing set, of which anybody may have seen any part: so loss, delay, duplication,
   reordering and partitions are covered, and a crash is a seat that does nothing more.  Proposals are not
   modelled: anything may be proposed to anybody at any time, so every arbiter may lie.  Timers are not modelled:
   any seat may go on to a later round at any time.  Steps after this one are modelled by what their entries and votes say
   about it: to sign an entry, or to prevote, in a later step is to `stand` on this close; to sign an entry that
   acknowledges the entries of a quorum, or to precommit, in a later step is to `stand_second`.  A decision that marks
   the seat absent begins a new epoch, in which nothing of that counts: here, `agreement` says that it never comes to that
   once the close is confirmed.

   Honest seats differ by their state alone, so they are kept sorted by it: of all the states that differ only by the
   names of seats, one is visited.

   In every state is checked:
     agreement    at most one closing is decided or confirmed;
     call_kept    an entry that SEATS-QUORUM+1 honest seats held, before any of them prevoted for its absence, is never decided to be absent;
     no_second    where all honest seats have closed with one of two entries (and done what follows), the other is never decided;
     progress     with CRASHES seats gone: once the others hear each other for as long as it takes each of them to lead
                  one round, the step is decided;
     consistent   and it is decided as what is already final.

   Each mutant (a -D of its own) leaves out one rule, each witness claims that something does not happen: `check` demands that
   spin refutes them all. */

#ifndef SEATS
#define SEATS 4
#endif
#ifndef LIARS
#define LIARS 0
#endif
#ifndef CRASHES
#define CRASHES 0
#endif
#ifndef ROUNDS
#define ROUNDS 2
#endif
#ifndef CLOSINGS
#define CLOSINGS 2
#endif
#ifndef QUORUM
#define QUORUM ((SEATS + (SEATS - 1) / 3 + 2) / 2)
#endif

#define HONEST (SEATS - LIARS)
#define ABSENT CLOSINGS
#define NOBODY HONEST
#define AT(round, closing) ((round) * (CLOSINGS + 1) + (closing))

/* The state of each honest seat, packed (see load), and how many honest seats have ever signed what. */
int seat[HONEST];
byte prevotes[AT(ROUNDS + 1, 0)];
byte precommits[AT(ROUNDS + 1, 0)];
byte standing[CLOSINGS];      /* entries on a tentative close: round 0's prevotes */
byte second[CLOSINGS];        /* entries on a prepared close: round 0's precommits */
byte keepers;
#ifdef AMNESIA
bit forgot;
#endif

#define certified(round, closing) (prevotes[AT(round, closing)] + LIARS >= QUORUM)
#define decided(round, closing) (precommits[AT(round, closing)] + LIARS >= QUORUM)
#define prepared(closing) (standing[closing] + LIARS >= QUORUM)
#ifdef ONE_LAYER
#define confirmed(closing) prepared(closing)
#else
#define confirmed(closing) (second[closing] + LIARS >= QUORUM)
#endif

/* The seat at hand.  Entry e is held if bit e-1 of `held` is set; `stands` is the closing it signed entries on. */
hidden byte held, stands, seconded, keeper;
hidden byte prevoted[ROUNDS + 1], precommitted[ROUNDS + 1];
hidden byte latest, lock_round, lock;
hidden byte others;            /* it voted for another closing than it closed with */

hidden byte i, k, w, best, gone, leader, accept, all_held, best_round, best_closing, wanted, seen;
hidden int packed;
hidden byte ok, fits;

#define holds(what, closing) ((what >> (closing - 1)) & 1)

inline load(s) {
  packed = seat[s];
  held = packed & 3; stands = (packed >> 2) & 3; seconded = (packed >> 4) & 1; keeper = (packed >> 5) & 1;
  latest = 0; lock = 0; lock_round = 0; others = 0;
  if :: seconded -> lock = stands :: else fi;
#ifdef ONE_LAYER
  lock = stands;
#endif
  k = 1;
  do
  :: k <= ROUNDS ->
     prevoted[k] = (packed >> (4 + 2 * k)) & 3;
     precommitted[k] = (packed >> (4 + 2 * ROUNDS + 2 * k)) & 3;
     if :: prevoted[k] || precommitted[k] -> latest = k :: else fi;
     if :: precommitted[k] -> lock = precommitted[k]; lock_round = k :: else fi;
     k++
  :: else -> break
  od;
#ifdef NO_LOCK
  lock = 0; lock_round = 0;
#endif
}

/* Whether the seat at hand voted for another closing than `closing`. */
inline voted_otherwise(closing) {
  others = 0; k = 1;
  do
  :: k <= ROUNDS ->
     if :: (prevoted[k] && prevoted[k] != closing) || (precommitted[k] && precommitted[k] != closing) -> others = 1
        :: else fi;
     k++
  :: else -> break
  od;
#ifdef NO_FAST_RULE
  others = 0;
#endif
}

inline store(s) {
  packed = held | (stands << 2) | (seconded << 4) | (keeper << 5);
  k = 1;
  do
  :: k <= ROUNDS ->
     packed = packed | (prevoted[k] << (4 + 2 * k)) | (precommitted[k] << (4 + 2 * ROUNDS + 2 * k));
     k++
  :: else -> break
  od;
  i = s;
  do
  :: i > 0 && seat[i - 1] > packed -> seat[i] = seat[i - 1]; i--
  :: i < HONEST - 1 && seat[i + 1] < packed -> seat[i] = seat[i + 1]; i++
  :: else -> break
  od;
  seat[i] = packed;
}

/* Conditions 1, 2 and 5 of protocol/stance.py for the seat at hand, if it holds `what`; 3 is about timers. */
inline fitting(what, closing) {
  if
  :: closing != ABSENT ->
#ifdef EITHER
     fits = holds(what, closing)
#else
     fits = holds(what, closing) && (what != 3 || closing == stands)
#endif
  :: else ->
#ifdef OMIT
     fits = 1
#else
     fits = (what == 0 || what == 3)   /* nothing held, or two entries of one seat: exposed */
#endif
  fi
}

/* The last round before `before` in which `closing` was certified, in `best`. */
inline find_certificate(before, closing) {
  best = 0; k = 1;
  do
  :: k < before -> if :: certified(k, closing) -> best = k :: else fi; k++
  :: else -> break
  od
}

#ifdef NO_EXCEPTION
#define EXCUSED 0
#else
#define EXCUSED (best > 0)
#endif

/* Condition 4, with a certificate of round `best` at hand. */
#define UNLOCKED(closing) (lock == 0 || lock == closing || (best > 0 && best >= lock_round))

/* --- acts -------------------------------------------------------------------------------------- */

inline entry_held(s, entry) {
  load(s);
  if
  :: !holds(held, entry) ->
     held = held | (1 << (entry - 1));
     k = 1; ok = 1;
     do
     :: k <= ROUNDS -> if :: prevoted[k] == ABSENT -> ok = 0 :: else fi; k++
     :: else -> break
     od;
     if :: ok && CLOSINGS == 2 -> keeper = 1; keepers++ :: else fi;
     store(s)
  :: else
  fi
}

/* fast_close, and an entry of the next step signed on it. */
inline stand(s, closing) {
  load(s); voted_otherwise(closing);
  if
  :: stands == 0 && holds(held, closing) && !others ->
     stands = closing; standing[closing]++;
     store(s)
  :: else
  fi
}

/* Entries of a quorum stand on another closing: go over to it.  What was signed on the first stays signed. */
inline adopt(s, closing) {
  load(s); voted_otherwise(closing);
  if
  :: stands != closing && !seconded && prepared(closing) && holds(held, closing) && (lock == 0 || lock == closing) && !others ->
     stands = closing; standing[closing]++;
     store(s)
  :: else
  fi
}

/* The close is prepared: lock in round 0, and sign an entry that says so. */
inline stand_second(s) {
  load(s); voted_otherwise(stands);
  if
  :: stands && !seconded && prepared(stands) && !others ->
     seconded = 1; second[stands]++;
     store(s)
  :: else
  fi
}

inline prevote(s, round, closing) {
  load(s); fitting(held, closing); find_certificate(round, closing);
  if
  :: latest <= round && prevoted[round] == 0 && (fits || EXCUSED) && UNLOCKED(closing) ->
     prevoted[round] = closing; prevotes[AT(round, closing)]++;
#ifdef ONE_PHASE
     precommitted[round] = closing; precommits[AT(round, closing)]++;
#endif
     store(s)
  :: else
  fi
}

/* Lock and precommit on a prevote certificate of the round. */
inline precommit(s, round, closing) {
  load(s);
  if
  :: latest <= round && precommitted[round] == 0 && certified(round, closing) ->
     precommitted[round] = closing; precommits[AT(round, closing)]++;
     store(s)
  :: else
  fi
}

#ifdef AMNESIA
/* A restart without a journal: what was said is forgotten, once. */
inline restart(s) {
  load(s);
  if
  :: !forgot ->
     forgot = 1; stands = 0; seconded = 0; k = 1;
     do :: k <= ROUNDS -> prevoted[k] = 0; precommitted[k] = 0; k++ :: else -> break od;
     store(s)
  :: else
  fi
}
#endif

/* --- checks ------------------------------------------------------------------------------------ */

hidden byte finals, final_closing;
hidden byte agreement, call_kept, no_second, progress, consistent, witness;

inline find_finals() {
  finals = 0; final_closing = 0; w = 1;
  do
  :: w <= CLOSINGS ->
     ok = 0; k = 1;
     if :: w != ABSENT -> ok = confirmed(w) :: else fi;
     do
     :: k <= ROUNDS -> if :: decided(k, w) -> ok = 1 :: else fi; k++
     :: else -> break
     od;
     if :: ok -> finals++; final_closing = w :: else fi;
     w++
  :: else -> break
  od
}

/* What the leader at hand proposes once all that the living hold has been exchanged. */
inline propose() {
  load(leader);
  if
  :: best_round > 0 && best_round >= lock_round -> wanted = best_closing
  :: else ->
     best = 0;
     if
     :: lock -> wanted = lock
     :: else ->
        if
        :: all_held == 3 -> wanted = ABSENT
        :: else ->
           if
           :: stands -> wanted = stands
           :: else -> if :: all_held == 0 -> wanted = ABSENT :: else -> wanted = all_held fi
           fi
        fi
     fi
  fi
}

inline check_progress() {
  /* what the living know together: every entry that one of them holds, every certificate that one of them is locked on */
  all_held = 0; best_round = 0; best_closing = 0; seen = 0; i = 0;
  do
  :: i < HONEST ->
     if
     :: i != gone ->
        load(i);
        all_held = all_held | held;
        if :: seconded -> seen = stands :: else fi;   /* it shows the others what stands on it */
        if :: lock_round > best_round && certified(lock_round, lock) -> best_round = lock_round; best_closing = lock :: else fi
     :: else
     fi;
     i++
  :: else -> break
  od;
  progress = 0; leader = 0;
  do
  :: leader < HONEST ->
     if
     :: leader != gone ->
        propose();
        best = (best_closing == wanted -> best_round : 0);
        accept = 0; i = 0;
        do
        :: i < HONEST ->
           if
           :: i != gone ->
              load(i);
              if :: seen && (lock == 0 || lock == seen) -> stands = seen :: else fi;   /* adopt */
              fitting(all_held, wanted);
              if :: (fits || EXCUSED) && UNLOCKED(wanted) -> accept++ :: else fi
           :: else
           fi;
           i++
        :: else -> break
        od;
        if :: accept >= QUORUM -> progress = 1 :: else fi;
        consistent = (accept + LIARS < QUORUM || finals == 0 || final_closing == wanted);
        assert(consistent)
     :: else
     fi;
     leader++
  :: else -> break
  od;
#ifdef ONE_LAYER
  if :: finals -> progress = 1 :: else fi;   /* to be fair to it: who reads that a close is confirmed may go over to it */
#endif
  assert(progress)
}

inline check() {
  find_finals();
  agreement = (finals <= 1);
  assert(agreement);
  call_kept = !(keepers >= SEATS - QUORUM + 1 && finals && final_closing == ABSENT);
  assert(call_kept);
#if CLOSINGS == 3
  no_second = !((standing[1] >= HONEST && finals && final_closing == 2) || (standing[2] >= HONEST && finals && final_closing == 1));
  assert(no_second);
#endif
#ifndef SAFETY_ONLY
  gone = NOBODY;
  check_progress();
#if CRASHES
  gone = 0;
  do :: gone < HONEST -> check_progress(); gone++ :: else -> break od;
#endif
#endif
#ifdef WITNESS
  find_witness()
#endif
}

#ifdef WITNESS
/* That the model is not empty: each of these must be seen to happen. */
inline find_witness() {
  witness = 1; i = 0; accept = 0; best = 0;
  do
  :: i < HONEST ->
     load(i);
     accept = accept + (stands != 0 && stands != final_closing);
     k = 1;
     do
     :: k < ROUNDS -> best = best + (precommitted[k] && precommitted[k + 1] && precommitted[k] != precommitted[k + 1]); k++
     :: else -> break
     od;
     i++
  :: else -> break
  od;
#if WITNESS == 1   /* a close is confirmed on the fast path alone */
  w = 0; k = AT(1, 0);
  do :: k < AT(ROUNDS + 1, 0) -> w = w + prevotes[k]; k++ :: else -> break od;
  witness = !(finals && second[1] + LIARS >= QUORUM && w == 0);
#endif
#if WITNESS == 2   /* a tentative close is overridden by a decision */
  witness = !(finals && accept);
#endif
#if WITNESS == 3   /* a lock is given up for a later certificate */
  witness = !best;
#endif
  assert(witness)
}
#endif

/* --- every act of every seat -------------------------------------------------------------------- */

/* Of seats in the same state the first acts for all.  The other guards only save time: the acts ask again. */
#define FIRST(s) (s == 0 || seat[s] != seat[(s == 0 -> 0 : s - 1)])
#define HELD(s) (seat[s] & 3)
#define STANDS(s) ((seat[s] >> 2) & 3)
#define SECONDED(s) ((seat[s] >> 4) & 1)
#define PREVOTED(s, r) ((seat[s] >> (4 + 2 * (r))) & 3)
#define PRECOMMITTED(s, r) ((seat[s] >> (4 + 2 * ROUNDS + 2 * (r))) & 3)

#define HOLD(s, e) :: d_step { FIRST(s) && !holds(HELD(s), e) -> entry_held(s, e) }
#define STAND(s, c) :: d_step { FIRST(s) && STANDS(s) == 0 && holds(HELD(s), c) -> stand(s, c) }
#define SECOND(s) \
  :: d_step { FIRST(s) && STANDS(s) && !SECONDED(s) && prepared(STANDS(s)) -> stand_second(s) }
#define ADOPT(s, c) \
  :: d_step { FIRST(s) && STANDS(s) && STANDS(s) != c && !SECONDED(s) && prepared(c) -> adopt(s, c) }
#define IN_ROUND(s, r, c) \
  :: d_step { FIRST(s) && PREVOTED(s, r) == 0 -> prevote(s, r, c) } \
  :: d_step { FIRST(s) && PRECOMMITTED(s, r) == 0 && certified(r, c) -> precommit(s, r, c) }

#if CLOSINGS == 2
#define OF_ROUND(s, r) IN_ROUND(s, r, 1) IN_ROUND(s, r, 2)
#define FAST(s) HOLD(s, 1) STAND(s, 1) SECOND(s)
#else
#define OF_ROUND(s, r) IN_ROUND(s, r, 1) IN_ROUND(s, r, 2) IN_ROUND(s, r, 3)
#define FAST(s) HOLD(s, 1) HOLD(s, 2) STAND(s, 1) STAND(s, 2) ADOPT(s, 1) ADOPT(s, 2) SECOND(s)
#endif
#if ROUNDS == 1
#define VOTES(s) OF_ROUND(s, 1)
#elif ROUNDS == 2
#define VOTES(s) OF_ROUND(s, 1) OF_ROUND(s, 2)
#else
#define VOTES(s) OF_ROUND(s, 1) OF_ROUND(s, 2) OF_ROUND(s, 3)
#endif
#ifdef AMNESIA
#define ACTS(s) FAST(s) VOTES(s) :: d_step { !forgot -> restart(s) }
#else
#define ACTS(s) FAST(s) VOTES(s)
#endif

active proctype table() {
  do
  :: d_step { check(); i = 0 }   /* something has to follow: a d_step cannot end in a loop */
  ACTS(0)
  ACTS(1)
#if HONEST > 2
  ACTS(2)
#endif
#if HONEST > 3
  ACTS(3)
#endif
#if HONEST > 4
  ACTS(4)
#endif
  od
}
