import type { Repositories } from '../kernel/unit-of-work.js';
import type { SearchedWord, SearchTexts, SimilarWords } from '../markdown/markdown.js';
import type { MessageCondition, MessageFilter, Viewer } from './message-condition.js';
import { plainHyphens } from './search.js';

/** Words of a query to examine. Each may take four searches. */
const MAX_EXAMINED = 5;
/** Newest messages with similar words, among which the most frequent word is proposed. */
const MAX_HITS = 50;

/** Narrow of a search that found nothing. */
interface SearchedPlace {
  readonly place: MessageFilter;
  /** All messages of the viewer. */
  readonly everywhere: MessageFilter;
  /** True unless only a part of the place was searched. */
  readonly isWhole: boolean;
}

/**
 * Returns a search that found nothing with its misspelled words replaced by words of messages in the same place; null if
 * no word is misspelled, or one has no replacement. A word is misspelled if no message that the viewer may read contains
 * it. Only messages that the viewer may read determine the result.
 */
export async function proposeSearch(
  { pages }: Pick<Repositories, 'pages'>,
  texts: SearchTexts,
  viewer: Viewer,
  typed: string,
  { place, everywhere, isWhole }: SearchedPlace,
): Promise<string | null> {
  const search = plainHyphens(typed);
  const unsearched = { ...place, conditions: place.conditions.filter(({ kind }) => kind !== 'search') };
  const listHits = (filter: MessageFilter, words: SearchedWord, limit: number) => {
    const condition: MessageCondition = { kind: 'search', words: [words], phrases: [] };
    return pages.listEntriesUpTo(viewer, { ...filter, conditions: [...filter.conditions, condition] }, null, limit);
  };
  const bestOf = async ({ searched, wordsIn }: SimilarWords): Promise<string | null> => {
    const hits = await listHits(unsearched, searched(), MAX_HITS);
    const found = await pages.listTexts(
      viewer.realmId,
      hits.map(({ id }) => id),
    );
    const counts = new Map<string, number>();
    for (const { topic, renderedContent } of found) {
      const text = `${texts.searchableText(renderedContent)} ${topic}`;
      for (const each of wordsIn(text)) counts.set(each, (counts.get(each) ?? 0) + 1);
    }
    const [best] = [...counts].sort(([a, countA], [b, countB]) => countB - countA || (a < b ? -1 : 1));
    return best?.[0] ?? null;
  };
  // Further searches for the same words would multiply the time by which unreadable messages differ from none.
  const isEverywhere = JSON.stringify(unsearched) === JSON.stringify(everywhere);
  const isAbsent = isWhole && texts.searchedWords(search).length === 1;
  let proposal = search;
  // Positions before a replaced word stay the same.
  for (const { start, word, searched, similar } of texts.typedWords(search).slice(0, MAX_EXAMINED).reverse()) {
    const isFound = async (filter: MessageFilter) => (await listHits(filter, searched, 1)).length > 0;
    if ((!isAbsent && (await isFound(unsearched))) || (!isEverywhere && (await isFound(everywhere)))) continue;
    let best: string | null = null;
    for (const each of similar) best ??= await bestOf(each);
    if (best === null) return null;
    proposal = proposal.slice(0, start) + best + proposal.slice(start + word.length);
  }
  return proposal === search ? null : proposal;
}
