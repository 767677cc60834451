import type { Actor } from '../access/actor.js';
import type { MessageId } from '../kernel/ids.js';
import type { Repositories } from '../kernel/unit-of-work.js';
import type { SearchTexts, WordOccurrences } from '../markdown/markdown.js';
import type { MessageText } from './message.js';
import type { MessageListEntry } from './message-condition.js';
import type { MessagePage } from './message-page.js';
import type { ResolvedNarrow } from './narrow.js';

/** Newest hits among which the most relevant ones are chosen. */
const MAX_RANKED = 100;
/** Characters of a message to examine, which bounds the time for long messages. */
const EXAMINED = 2000;
/** Distance in characters at which the closeness of words counts half. */
const HALF_DISTANCE = 30;

/** Hit with its words, before ranking. */
interface Hit {
  readonly entry: MessageListEntry;
  readonly words: readonly WordOccurrences[];
  /** Position among the hits from 0 for the newest to 1. */
  readonly age: number;
  readonly isOwn: boolean;
}

/** Returns the most relevant of the newest hits (extensions §9). */
export async function selectRelevant(
  { pages }: Pick<Repositories, 'pages'>,
  texts: SearchTexts,
  actor: Actor,
  { filter, search }: ResolvedNarrow & { readonly search: string },
  limit: number,
): Promise<MessagePage & { readonly ranking: readonly MessageId[] }> {
  const viewer = { realmId: actor.realmId, userId: actor.id };
  const entries = await pages.listEntriesUpTo(viewer, filter, null, MAX_RANKED);
  const found = await pages.listTexts(
    actor.realmId,
    entries.map(({ id }) => id),
  );
  const textOf = new Map<MessageId, MessageText>(found.map((text) => [text.id, text]));
  const occurrencesIn = texts.occurrences(search);
  const hits = entries.map((entry, index): Hit => {
    const { topic = '', renderedContent = '' } = textOf.get(entry.id) ?? {};
    const text = `${texts.searchableText(renderedContent).slice(0, EXAMINED)}\n${topic}`;
    return {
      ...{ entry, words: occurrencesIn(text), age: 1 - (index + 1) / entries.length },
      isOwn: entry.channelId === null || entry.senderId === actor.id,
    };
  });
  const best = rank(hits).slice(0, limit);
  return {
    entries: best.map(({ entry }) => entry).sort((a, b) => a.id - b.id),
    ranking: best.map(({ entry }) => entry.id),
    anchor: null,
    foundAnchor: false,
    foundOldest: entries.length < MAX_RANKED && best.length === hits.length,
    foundNewest: true,
  };
}

/** Orders hits by rare words, words as typed, closeness, recency, and own conversations; then newest first. */
export function rank(hits: readonly Hit[]): readonly Hit[] {
  const words = hits[0]?.words ?? [];
  const weights = words.map((_, index) => {
    const count = hits.filter((hit) => hit.words[index]!.asTyped > 0).length;
    return Math.log(1 + hits.length / (1 + count));
  });
  const scoreOf = ({ words, age, isOwn }: Hit): number =>
    words.reduce((sum, { asTyped, positions }, index) => {
      const frequency = 1 + Math.log(Math.max(1, positions.length));
      return sum + weights[index]! * frequency * (asTyped > 0 ? 1 : 0.5);
    }, 0) +
    closeness(words) +
    (1 - age) / 2 +
    (isOwn ? 0.5 : 0);
  return hits
    .map((hit) => ({ hit, score: scoreOf(hit) }))
    .sort((a, b) => b.score - a.score || b.hit.entry.id - a.hit.entry.id)
    .map(({ hit }) => hit);
}

/** Returns 1 for neighboring words, less for distant ones, and 0 for a single word. */
function closeness(words: readonly WordOccurrences[]): number {
  const distances = words.slice(1).map(({ positions }, index) => {
    const before = words[index]!.positions;
    return Math.min(...positions.flatMap((position) => before.map((each) => Math.abs(position - each))));
  });
  if (distances.length === 0) return 0;
  return distances.reduce((sum, each) => sum + HALF_DISTANCE / (HALF_DISTANCE + each), 0) / distances.length;
}
