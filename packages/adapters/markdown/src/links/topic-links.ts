import type { LinkifierRule, TopicLink } from '@parley/domain/markdown';
import { WorkBudget } from '../budgets.js';
import { findAutolinks, mayHoldAddresses } from './autolinks.js';
import { RealmLinkifiers } from './realm-linkifiers.js';
import { completeUrl, splitUrl } from './url.js';

interface Candidate extends TopicLink {
  readonly start: number;
}

const SEPARATORS = /[ !;),'"]/;

/** Returns the links in a topic name without overlaps: linkifiers first, in their order, then plain addresses. */
export function findTopicLinks(topic: string, linkifiers: readonly LinkifierRule[]): readonly TopicLink[] {
  // Fast path for most topics.
  if (linkifiers.length === 0 && !mayHoldAddresses(topic)) return [];
  const taken: Candidate[] = [];
  for (const candidate of [...linkifierMatches(topic, linkifiers), ...addresses(topic)]) {
    if (!taken.some((other) => overlap(other, candidate))) taken.push(candidate);
  }
  return taken
    .sort((a, b) => a.start - b.start)
    .filter(({ url }) => completeUrl(url) !== null)
    .map(({ text, url }) => ({ text, url }));
}

function* linkifierMatches(topic: string, linkifiers: readonly LinkifierRule[]): Generator<Candidate> {
  if (linkifiers.length === 0) return;
  for (const search of new RealmLinkifiers(linkifiers).searches(topic)) {
    for (const { start, end, urlWith } of search(topic)) {
      yield { start, text: topic.slice(start, end), url: urlWith((part) => part) };
    }
  }
}

function* addresses(topic: string): Generator<Candidate> {
  const work = new WorkBudget();
  let start = 0;
  for (const piece of topic.split(SEPARATORS)) {
    const [address] = findAutolinks(piece, false, work);
    if (address) {
      const text = piece.slice(address.start, address.end);
      yield { start, text, url: splitUrl(text)?.scheme ? text : `https://${text}` };
    }
    start += piece.length + 1;
  }
}

const overlap = (a: Candidate, b: Candidate) => a.start < b.start + b.text.length && b.start < a.start + a.text.length;
