#pragma once

#include <atomic>
#include <cstdint>

// Mistakes that tests/meta makes on purpose, one at a time, to see that the tests notice. Only that program can make
// one; elsewhere each place costs a look at a variable that never changes, and with -DNOAM_BREAKAGES=OFF nothing.
namespace noam {

enum class Breakage : std::uint8_t {
  None,
  // Planner.
  LimitBeforeFilter,        // a lookup stops at the limit though some of what it finds is filtered out later
  LimitBeforeCheck,         // the same where the entries themselves are checked
  EqualityTakenAsAsked,     // an equality on a part that was looked up by another value is not asked
  OrderTakenAsDelivered,    // entries in another order are taken for ordered ones
  FoldTakenForKnown,        // an entry that tells about several instances is taken for one that is known
  FilteredCopyTakenForAll,  // a copy with a filter answers a query without it
  PartialBaseBinds,         // instances are found by entries that not each of them has
  KnownNotCompared,         // an entry about another instance is taken for one about that which is known
  TiesFromTheFirst,         // ties are broken by the keys of the first variable
  // Executor.
  TieTheOtherWay,       // the last term of an order runs backwards
  RangeBoundExclusive,  // the bounds of a range are left out
  OptionalRowDropped,   // a row goes where what it refers to is not there
  DanglingShown,        // what a dangling reference refers to seems to be there
  WordFoundTwice,       // a text with two of the words is two rows
  FoldedEntryIsOneRow,  // an entry that stands for many rows counts as one
  PageRepeatsARow,      // a page begins with the last row of the page before
  MoreThanThereIs,      // a page that ends with the last row has another after it
  LastBucketMissed,     // of a range over buckets of time
  AbsentEqualsAbsent,   // what has no value is found by no value
  LengthNotKept,        // a list that grows does not know it
  AnswerOfAnotherRow,   // a nested select has the answer of the row before, which differs in what it looks at
  // Upkeep of copies.
  CopySkipped,           // the last of several entries is not written
  IndirectChangeMissed,  // a copy does not follow what its rows lead to
  CountOffByOne,         // a count loses one too few
  StaleKeyLeft,          // an entry that moves stays at its old key, too
  CappedNotRefilled,     // the first entries of a block are fewer after one of them went
  ExtremeKept,           // a minimum or maximum stays when its row goes
  DistinctCountedTwice,  // a value that is there already counts as a new one
  EmptyGroupStays,       // a group stays when its last row goes
  LastFieldUnwatched,    // a copy does not follow one of the fields it is made of
  ListInOtherOrder,      // rows that share an entry are listed backwards
  // Commands.
  RequireNotAsked,        // a requirement of a command
  EntityRequireNotAsked,  // a requirement of an entity
  OwnerNotAsked,          // a part is made without its owner
  PartsStay,              // parts are not deleted with their owner
  KeyMadeTwice,           // two inserts of one command make the same key
  OneSideForgotten,       // removed from a symmetric role on one side only
  DueTooLate,             // by a minute
  EventsStay,             // what was counted of events is not forgotten with their owner
  OverflowStored,         // a number that does not fit is taken for absent
  RefreshKeepsOneMore,    // than asked for
  ExpiresUnasked,         // what was due expires, though it is due later by now
  BulkNotAskedAgain,      // an instance that does not match any more is changed
  // Sessions and transactions.
  RepeatAppliedAgain,     // a command with an id that was applied is applied again
  VerifyComparesNothing,  // copies are right, whatever they hold
  ReadsNotExpected,       // what was read may have changed by the commit
  AbsenceNotExpected,     // what was not there may have come by the commit
  CollectionNotExpected,  // a collection that was read whole may have changed by the commit
  OwnChangesUnseen,       // a command does not see what it has written
  BrokenCopyRead,         // a query relies on a copy that is known to be wrong
  // Memory store.
  LastCommitOverlooked,     // a commit just before this one is no conflict
  SnapshotSeesLaterWrites,  // a snapshot sees what was committed after it
  SnapshotForgets,          // what a snapshot sees goes when it changes
  // Embedded store.
  BumpBeforeWrite,       // a commit is noted before it can be seen
  LatchForgotten,        // commits of one block do not wait for each other
  TableUnnumbered,       // a commit that is a table of its own may have the number of the change before
  MemoryNotBeforeTable,  // such a table is on disk before what it builds on
  SyncNotWaitedFor,      // a command is told to be applied before it is on disk
  SyncTooEarly,          // a sync that began before the write is taken for one that covers it
  CounterMergedTwice,    // what is added counts twice where it comes to a value
  GoneShown,             // a counter that came to 0 stays
  AppendForgotten,       // of several appends to a list the first is lost
  // Transactions over blocks (docs/transactions.md has what each rule is for).
  ValidationSkipped,           // what was only read is not looked at again
  ValidatedBeforePrepare,      // it is looked at before the holds are set
  ValidationIgnoresHold,       // somebody is about to change it, and that is no conflict
  HomeNotHeld,                 // though another block was only read
  PrepareChangesEntries,       // a hold changes what others see
  DoneMarkIgnored,             // who judges a hold does not look for the mark of its commit
  NoDoneMark,                  // a commit leaves none
  ForgottenEarly,              // the mark goes before the holds
  ForgottenUnsure,             // the mark goes though a hold is still there
  JudgedByHoldOnly,            // a transaction that does not hold its home is taken for over
  RemovedWithoutFence,         // a hold goes, and its transaction may still commit
  FenceLeavesSequence,         // a fence that stops nobody
  RemovalLeavesSequence,       // a late prepare holds again what was removed
  PatienceWithoutEnd,          // everybody waits for a dead session
  UnknownTakenForFailed,       // a write whose outcome is unknown
  UnknownTakenForDone,         // likewise
  UnknownReadBack,             // it is read whether it was written, though it may be written later
  ReaderIgnoresHolds,          // a query does not look at holds
  ReaderPassesAllHolds,        // nor does it wait for those that may be ordered before what it has seen
  PureHoldNotRechecked,        // a hold that was passed may be committed by the end
  QueryValidatesVersionsOnly,  // a query does not look at holds at its end
  GuardMissing,                // nobody looks whether a command was applied before
  GuardDropped,                // a guard goes to make room, and nobody finds it any more
  AcknowledgedEarly,           // a command is answered before its commit is decided
  PrepareIgnoresSequence,      // a hold is set if only nobody else holds the unit
  CommitOnNewerHead,           // a commit is decided on a home that has moved on
  FinishBlind,                 // a finish does not ask whether the hold is still there
  FinishAnyHold,               // nor whose hold it is
  ForgetBlind,                 // a mark is forgotten without asking whether there are new ones
  LastIdOnly,                  // a commit looks for itself as the last one only
  TransactionIdReused,         // two attempts have one id
  AbortAfterUnknown,           // holds are removed though the commit may have been decided
  QueryNotValidated,           // a query counts whatever it has read
  RefusalNotValidated,         // so does a refusal
  GravestoneEarly,             // the head of an empty unit goes at once
  NumbersRestart,              // a new head begins at 1
  GuardByState,                // where a guard is kept depends on what the command finds
};

#ifdef NOAM_BREAKAGES
class MadeBreakage {
  friend bool broken(Breakage one);
  friend class BreakageSwitch;  // tests/meta/breakage_switch.h
  static inline std::atomic<Breakage> made = Breakage::None;
};

inline bool broken(Breakage one) {
  const Breakage now = MadeBreakage::made.load(std::memory_order_relaxed);
  if (now == Breakage::None) [[likely]]
    return false;
  return now == one;
}
#else
constexpr bool broken(Breakage /*one*/) { return false; }
#endif

}  // namespace noam
