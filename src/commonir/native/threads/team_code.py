"""Code by which several threads run one graph: who computes what, and who waits for whom.

The threads of a run are a *team*. All of them go through the steps of the graph in order; a step has one or more blocks
of work. Blocks of all steps are numbered through: a thread waits until the blocks of earlier steps are done, takes the
next block by increasing the ticket counter, and increases the counter of done blocks after it. No thread waits for
another that has no block, so one that the system does not schedule, or that is delayed, does not delay others.

Loops whose rounds are counted are one range: each thread goes through all rounds with a table of addresses of its own,
and meets the others only where a step ends. A step there has at most one block for each thread, which its owner takes
first, round after round, so that the constants it reads stay in the caches of its processor. A thread that waits takes
a block whose owner has not begun it after a while. Who takes a block writes a number that is greater than all blocks
before the step to the *claim* of its owner, and to the owner's *result* after it.

Counters, claims and results only grow, also from run to run. A thread that comes after the end of a run finds all its
blocks taken, and leaves; it reads nothing but the memory of the team, which outlives it. What it reads there at first
belongs to one run if the number of the run is the same afterwards.

A waiting thread spins for some microseconds and then lets the system run others, by a function whose address is in the
team: generated code depends on no library. Words of the team that different threads write are on different lines of the
cache.
"""

from __future__ import annotations

from commonir.llvm.llvm_ir import Module
from commonir.llvm.target import Target

RUN_SHARED = "run_shared"
"""The function that computes the graph with the team, called by the thread that needs the result."""

HELP = "help"
"""The function by which other threads take part in the run that goes on, if any."""

SHARE = "share"
STEPS = "steps"
TAKE = "take"
TAKE_OWNED = "take_owned"
RESULT = "store_result"

WORD_BYTES = 8
TICKET = 8
DONE = 16
RUN = 24
OPEN = 25
MEMBERS = 32
"""Words of the team: tickets given out, blocks done, the number of the range of steps, which is odd while one goes on,
whether others may follow in this run, and the threads that have entered the range."""

START, FIRST, LAST, LOOP, TABLE, FAULTS, SCRATCH, SCRATCH_BYTES, THREADS, YIELD, WATCH, SIZES = range(40, 52)
"""Words of the team for one range: the blocks done before, its steps, or from 1 on the number of the loop that it is,
the arguments of the program with the bytes of scratch memory of each thread, the number of threads, the function that
lets others run, and from `SIZES` on the values of symbols. A copy of the table follows, then claims and results."""

_OWNER_WORDS = 32
_RESULT = 16
"""Words between those of owners of blocks, and from the claim of one to its result: lines apart, as they are fetched in
pairs."""

SPINS = 1000
"""Rounds of waiting before a thread lets others run, some 25 microseconds: who yields beside a busy process may come
back milliseconds later."""

PATIENCE = 3000
"""Rounds of waiting for a range of steps before a thread that helps leaves the run."""

OWNER_PATIENCE = 100
"""Rounds of waiting before a thread takes blocks of others."""

BLOCKS_PER_THREAD = 4
"""Blocks of a step for each thread, so that a thread that is interrupted does less of them."""

FEW_BLOCKS_PER_THREAD = 2
"""The same for steps that do some work again in each block."""


def first_claim(symbols: int, tensors: int) -> int:
    """Returns the word of the first claim, in a team for a program with so many symbols, and tensors in its table."""
    return -(-(SIZES + symbols + tensors) // _OWNER_WORDS) * _OWNER_WORDS


def team_words(symbols: int, tensors: int, threads: int) -> int:
    """Returns the number of words of a team of so many threads; see `first_claim`."""
    return first_claim(symbols, tensors) + threads * _OWNER_WORDS


def add_team_functions(module: Module, target: Target) -> None:
    """Adds the functions `SHARE` and `HELP`, which call `STEPS`, and those that this calls for each block."""
    pause = ""
    if target.triple.startswith("x86_64"):
        module.declarations["llvm.x86.sse2.pause"] = "declare void @llvm.x86.sse2.pause()"
        pause = "call void @llvm.x86.sse2.pause()"
    elif target.triple.startswith(("aarch64", "arm64")):
        module.declarations["llvm.aarch64.hint"] = "declare void @llvm.aarch64.hint(i32)"
        pause = "call void @llvm.aarch64.hint(i32 1)"
    module.definitions.append(_TEXT.replace("PAUSE", pause))


def _word(name: str, number: int) -> str:
    return f"  %{name} = getelementptr i64, ptr %team, i64 {number}\n"


# Before a thread looks again, it pauses for an instant, or, after a while, lets the system run others.
_PAUSES = """pause:
  PAUSE
  %more = add i64 %spins, 1
  br label %look
system:
  %f = load ptr, ptr %yield, align 8
  %ignored = call i32 %f()
  br label %look
"""

_WAIT = f"""
define internal void @wait(ptr %team, i64 %blocks) noinline #0 {{
entry:
{_word("done", DONE)}{_word("yield", YIELD)}  br label %look
look:
  %spins = phi i64 [ 0, %entry ], [ %more, %pause ], [ %spins, %system ]
  %now = load atomic i64, ptr %done acquire, align 8
  %missing = icmp slt i64 %now, %blocks
  br i1 %missing, label %wait, label %end
wait:
  %is_short = icmp slt i64 %spins, {SPINS}
  br i1 %is_short, label %pause, label %system
{_PAUSES}end:
  ret void
}}
"""

# Returns the number of a block of a step, negative if there is none left; `base` blocks come before the step.
_TAKE = f"""
define internal i64 @{TAKE}(ptr %team, i64 %base, i64 %blocks) noinline #0 {{
entry:
{_word("ticket", TICKET)}  %end = add i64 %base, %blocks
  br label %look
look:
  %t = load atomic i64, ptr %ticket acquire, align 8
  %runs = icmp slt i64 %t, %end
  br i1 %runs, label %wait, label %none
wait:
  call void @wait(ptr %team, i64 %base)
  %next = add i64 %t, 1
  %pair = cmpxchg ptr %ticket, i64 %t, i64 %next acq_rel acquire, align 8
  %took = extractvalue {{ i64, i1 }} %pair, 1
  br i1 %took, label %taken, label %look
taken:
  %block = sub i64 %t, %base
  ret i64 %block
none:
  ret i64 -1
}}
"""

# Returns the number of a block of a step whose blocks have owners, negative when all of them are done. `own` is the
# number of the thread, and `patience` a word of its own, negative while it does the blocks of others.
_TAKE_OWNED = f"""
define internal i64 @{TAKE_OWNED}(ptr %team, ptr %claims, i64 %base, i64 %blocks, i64 %own, ptr %patience) \
noinline #0 {{
entry:
{_word("yield", YIELD)}  %results = getelementptr i64, ptr %claims, i64 {_RESULT}
  %above = add i64 %base, 1
  %owns = icmp slt i64 %own, %blocks
  br i1 %owns, label %mine, label %look
mine:
  %own_word = mul i64 %own, {_OWNER_WORDS}
  %own_claim = getelementptr i64, ptr %claims, i64 %own_word
  %own_latest = load atomic i64, ptr %own_claim acquire, align 8
  %own_free = icmp sle i64 %own_latest, %base
  br i1 %own_free, label %take_own, label %look
take_own:
  %own_pair = cmpxchg ptr %own_claim, i64 %own_latest, i64 %above acq_rel acquire, align 8
  %own_taken = extractvalue {{ i64, i1 }} %own_pair, 1
  br i1 %own_taken, label %return_own, label %look
return_own:
  ret i64 %own
look:
  %spins = phi i64 [ 0, %entry ], [ 0, %mine ], [ 0, %take_own ], [ %more, %pause ], [ %spins, %system ]
  br label %next_result
next_result:
  %n = phi i64 [ 0, %look ], [ %following, %result ]
  %remains = icmp slt i64 %n, %blocks
  br i1 %remains, label %result, label %complete
result:
  %word = mul i64 %n, {_OWNER_WORDS}
  %result_at = getelementptr i64, ptr %results, i64 %word
  %latest = load atomic i64, ptr %result_at acquire, align 8
  %is_done = icmp sgt i64 %latest, %base
  %following = add i64 %n, 1
  br i1 %is_done, label %next_result, label %missing
complete:
  %before = load i64, ptr %patience, align 8
  %helped = icmp slt i64 %before, 0
  %after = select i1 %helped, i64 0, i64 {OWNER_PATIENCE}
  store i64 %after, ptr %patience, align 8
  ret i64 -1
missing:
  %limit = load i64, ptr %patience, align 8
  %waits = icmp slt i64 %spins, %limit
  br i1 %waits, label %pause, label %next_claim
next_claim:
  %k = phi i64 [ 0, %missing ], [ %k_following, %claim ], [ %k_following, %steal ]
  %k_remains = icmp slt i64 %k, %blocks
  br i1 %k_remains, label %claim, label %none
claim:
  %k_word = mul i64 %k, {_OWNER_WORDS}
  %claim_at = getelementptr i64, ptr %claims, i64 %k_word
  %k_following = add i64 %k, 1
  %k_latest = load atomic i64, ptr %claim_at acquire, align 8
  %is_free = icmp sle i64 %k_latest, %base
  br i1 %is_free, label %steal, label %next_claim
steal:
  %pair = cmpxchg ptr %claim_at, i64 %k_latest, i64 %above acq_rel acquire, align 8
  %took = extractvalue {{ i64, i1 }} %pair, 1
  br i1 %took, label %taken, label %next_claim
taken:
  store i64 -1, ptr %patience, align 8
  ret i64 %k
none:
  %is_short = icmp slt i64 %spins, {SPINS}
  br i1 %is_short, label %pause, label %system
{_PAUSES}}}

define internal void @{RESULT}(ptr %claims, i64 %base, i64 %block) noinline #0 {{
  %first = mul i64 %block, {_OWNER_WORDS}
  %word = add i64 %first, {_RESULT}
  %at = getelementptr i64, ptr %claims, i64 %word
  %above = add i64 %base, 1
  store atomic i64 %above, ptr %at release, align 8
  ret void
}}
"""

_SHARE = f"""
define internal void @{SHARE}(ptr %team, i64 %from, i64 %to, i64 %of_loop) noinline #0 {{
entry:
{_word("ticket", TICKET)}{_word("done", DONE)}{_word("run", RUN)}{_word("start", START)}{_word("members", MEMBERS)}\
{_word("first_step", FIRST)}{_word("last_step", LAST)}{_word("loop", LOOP)}\
  store i64 %from, ptr %first_step, align 8
  store i64 %to, ptr %last_step, align 8
  store i64 %of_loop, ptr %loop, align 8
  %first = load i64, ptr %ticket, align 8
  store i64 %first, ptr %start, align 8
  store i64 %first, ptr %done, align 8
  store i64 1, ptr %members, align 8
  %number = load i64, ptr %run, align 8
  %later = add i64 %number, 1
  %odd = or i64 %later, 1
  store atomic i64 %odd, ptr %run release, align 8
  %end = call i64 @{STEPS}(ptr %team, i64 %odd, i64 0)
  %is_loop = icmp sgt i64 %of_loop, 0
  br i1 %is_loop, label %counted, label %others
counted:
  store atomic i64 %end, ptr %ticket release, align 8
  br label %close
others:
  call void @wait(ptr %team, i64 %end)
  br label %close
close:
  %closed = add i64 %odd, 1
  store atomic i64 %closed, ptr %run release, align 8
  fence seq_cst
  ret void
}}

define void @{HELP}(ptr %team) #0 {{
entry:
{_word("run", RUN)}{_word("open", OPEN)}{_word("yield", YIELD)}  br label %look
look:
  %before = phi i64 [ 0, %entry ], [ %before, %pause ], [ %before, %system ], [ %number, %member ]
  %spins = phi i64 [ 0, %entry ], [ %spun, %pause ], [ %yielded, %system ], [ 0, %member ]
  %others_help = load atomic i64, ptr %open acquire, align 8
  %stays = icmp ne i64 %others_help, 0
  br i1 %stays, label %ask, label %end
ask:
  %number = load atomic i64, ptr %run acquire, align 8
  %bit = and i64 %number, 1
  %runs = icmp eq i64 %bit, 1
  %is_new = icmp ne i64 %number, %before
  %joins = and i1 %runs, %is_new
  br i1 %joins, label %member, label %idle
member:
  %ignored = call i64 @{STEPS}(ptr %team, i64 %number, i64 1)
  br label %look
idle:
  %is_short = icmp slt i64 %spins, {SPINS}
  br i1 %is_short, label %pause, label %longer
pause:
  PAUSE
  %spun = add i64 %spins, 1
  br label %look
longer:
  %waits = icmp slt i64 %spins, {PATIENCE}
  br i1 %waits, label %system, label %end
system:
  %f = load ptr, ptr %yield, align 8
  %result = call i32 %f()
  %yielded = add i64 %spins, 1
  br label %look
end:
  ret void
}}
"""

_TEXT = _WAIT + _TAKE + _TAKE_OWNED + _SHARE
