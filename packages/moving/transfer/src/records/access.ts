/**
 * Readers of a conversation: everyone in `readers`, and everyone in the shared set of full members if `isOpen`. Sets
 * instead of pairs keep the comparison of 20,000 people and 2,000 channels small.
 */
export interface Readers<Id> {
  readonly isOpen: boolean;
  readonly readers: ReadonlySet<Id>;
}

export interface AccessCopy<Id> {
  /** People who can read all open conversations. */
  readonly fullMembers: ReadonlySet<Id>;
  /** Keyed by conversation. */
  readonly conversations: ReadonlyMap<string, Readers<Id>>;
}

export interface AccessDifference<Id> {
  readonly conversation: string;
  readonly person: Id;
}

/** Maximum number of reported differences. */
const MAX_DIFFERENCES = 100;

/**
 * Returns the (person, conversation) pairs that gain read access. A conversation missing in `before` had no readers.
 */
export function newAccess<Id>(before: AccessCopy<Id>, after: AccessCopy<Id>): readonly AccessDifference<Id>[] {
  const found: AccessDifference<Id>[] = [];
  const newFullMembers = [...after.fullMembers].filter((person) => !before.fullMembers.has(person));
  for (const [conversation, { isOpen, readers }] of after.conversations) {
    const source = before.conversations.get(conversation);
    const couldRead = (person: Id) =>
      source !== undefined && (source.readers.has(person) || (source.isOpen && before.fullMembers.has(person)));
    const toCheck = [...readers, ...(isOpen ? (source?.isOpen ? newFullMembers : after.fullMembers) : [])];
    for (const person of toCheck) {
      if (!couldRead(person)) found.push({ conversation, person });
      if (found.length >= MAX_DIFFERENCES) return found;
    }
  }
  return found;
}
