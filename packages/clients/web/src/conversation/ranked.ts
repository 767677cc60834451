import { type Destination, rankOf, resembles } from '@parley/chat';

const MAX_ENTRIES = 10;
/** Maximum topics while something other than a conversation is found, such as an action. */
const MAX_TOPICS = 3;

/** Entry that is found by parts of its name. */
export interface Found {
  /** Conversation that can receive a message. */
  readonly to?: Destination;
  /** Channel in which a topic can be started. */
  readonly channelId?: number;
  readonly name: string;
  readonly detail: string;
  /** Further words to find it by. */
  readonly words?: string;
  /** True for conversations that precede other matches of their name. */
  readonly isRecent?: boolean;
}

type Rank = (entry: Found, query: string) => number | null;

const wholeOf = ({ name, detail }: Found): string => `${name} ${detail.replace('#', '')}`;

/**
 * Ranks in order of preference. The slower ones apply to entries without a better rank, as long as too few are found:
 * equal names, then recent conversations, then other names; names with their channels and other words; names that are
 * typed with mistakes.
 */
const RANKS: readonly Rank[] = [
  ({ name, isRecent = false }, query) => {
    const rank = rankOf(query, name);
    return isRecent && rank !== null && rank > 0 ? 0.5 : rank;
  },
  (entry, query) => (rankOf(query, `${wholeOf(entry)} ${entry.words ?? ''}`) === null ? null : 0),
  // Few entries resemble the query, so that their names are compared last.
  (entry, query) => (resembles(query, wholeOf(entry)) ? Number(!resembles(query, entry.name)) : null),
];

/** Kinds of entries by the mark before a query, as in messages. */
const KINDS: Readonly<Record<string, (entry: Found) => boolean>> = {
  '#': ({ to, channelId }) => channelId !== undefined || to?.kind === 'channel',
  '@': ({ to }) => to?.kind === 'direct',
};

/** Returns the matching entries like `ranked`, but few topics if names of actions, views or settings match as well. */
export function rankedWithActions<E extends Found>(all: readonly E[], typed: string, isOffered = (_: E) => true) {
  const isAction = (entry: E) => !entry.to && entry.channelId === undefined && RANKS[1]!(entry, typed) !== null;
  if (typed.trim() === '' || !all.some(isAction)) return ranked(all, typed, isOffered);
  let topics = 0;
  return ranked(all, typed, (entry) => isOffered(entry) && (entry.to?.kind !== 'channel' || ++topics <= MAX_TOPICS));
}

/** Returns the entries that match the query, best first. `#` limits them to channels and topics, `@` to people. */
export function ranked<E extends Found>(all: readonly E[], typed: string, isOffered = (_: E) => true): readonly E[] {
  const kind = KINDS[typed.trim()[0] ?? ''];
  // Topics are shown after their channel and `>`.
  const query = (kind ? typed.trim().slice(1) : typed).replaceAll('>', ' ');
  let left = kind ? all.filter(kind) : all;
  const found: E[] = [];
  const offer = (entries: readonly E[]) => {
    for (const entry of entries) if (found.length < MAX_ENTRIES && isOffered(entry)) found.push(entry);
  };
  if (query.trim() === '') offer(left);
  else {
    for (const rankOfEntry of RANKS) {
      if (found.length === MAX_ENTRIES) break;
      const ranks = left.map((entry) => rankOfEntry(entry, query));
      const matches = left.flatMap((entry, index) => (ranks[index] === null ? [] : [{ entry, rank: ranks[index]! }]));
      offer(matches.sort((a, b) => a.rank - b.rank).map(({ entry }) => entry));
      left = left.filter((_, index) => ranks[index] === null);
    }
  }
  return found;
}
