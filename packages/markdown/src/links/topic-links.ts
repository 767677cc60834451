import type { Linkifier, TopicLink } from '@parley/domain';
import { findAutolinks } from './autolinks.js';
import { CompiledLinkifier } from './linkifier.js';
import { completeUrl, splitUrl } from './url.js';

interface Candidate extends TopicLink {
  readonly start: number;
}

const SEPARATORS = /[ !;),'"]/;

/** The links in a topic name. Linkifiers come first, in their order, then plain addresses; none overlaps another. */
export function findTopicLinks(topic: string, linkifiers: readonly Linkifier[]): readonly TopicLink[] {
  const taken: Candidate[] = [];
  for (const candidate of [...linkifierMatches(topic, linkifiers), ...addresses(topic)]) {
    if (!taken.some((other) => overlap(other, candidate))) taken.push(candidate);
  }
  return taken
    .sort((a, b) => a.start - b.start)
    .filter(({ url }) => completeUrl(url) !== null)
    .map(({ text, url }) => ({ text, url }));
}

function* linkifierMatches(topic: string, linkifiers: readonly Linkifier[]): Generator<Candidate> {
  for (const linkifier of linkifiers) {
    for (const { start, text, url } of CompiledLinkifier.of(linkifier)?.matches(topic) ?? [])
      yield { start, text, url };
  }
}

function* addresses(topic: string): Generator<Candidate> {
  let start = 0;
  for (const piece of topic.split(SEPARATORS)) {
    const [address] = findAutolinks(piece, false);
    if (address) {
      const text = piece.slice(address.start, address.end);
      yield { start, text, url: splitUrl(text)?.scheme ? text : `https://${text}` };
    }
    start += piece.length + 1;
  }
}

const overlap = (a: Candidate, b: Candidate) => a.start < b.start + b.text.length && b.start < a.start + a.text.length;
