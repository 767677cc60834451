import { apiNarrow, type Destination, type Narrow } from '@parley/chat';
import type { FoundMessage } from '@parley/client';
import { textOfHtml } from '../content/html-text.js';
import type { Services } from '../services/context.js';

/** Fetches the first messages of a search, in the given order. */
export async function findMessages(
  { chat, client }: Services,
  narrow: Narrow,
  count: number,
  order: 'newest' | 'relevance',
): Promise<readonly FoundMessage[]> {
  const { messages, ranking } = await client.get('/messages', {
    narrow: apiNarrow(narrow, chat.state.selfId),
    order,
    anchor: 'newest',
    num_before: count,
    num_after: 0,
    client_gravatar: false,
    allow_empty_topic_name: true,
  });
  if (!ranking) return messages.toReversed();
  return ranking.flatMap((id) => messages.find((message) => message.id === id) ?? []);
}

export function destinationOfHit(hit: FoundMessage, selfId: number): Destination {
  const { stream_id, subject, display_recipient } = hit;
  if (stream_id !== undefined) return { kind: 'channel', channelId: stream_id, topic: subject };
  const people = display_recipient as readonly { readonly id: number }[];
  const userIds = people.map(({ id }) => id).filter((id) => id !== selfId);
  return { kind: 'direct', userIds: userIds.sort((a, b) => a - b) };
}

/** Part of a message around its first highlighted word, as plain text. */
export interface Snippet {
  readonly before: string;
  readonly hit: string;
  readonly after: string;
}

const HIT = /<span class="highlight">(.*?)<\/span>/s;
/** Letters before the highlighted word, which stays visible in a narrow list. */
const MAX_BEFORE = 24;
const MAX_AFTER = 120;

export function snippetOf(html: string): Snippet {
  const found = HIT.exec(html);
  const before = textOfHtml(found ? html.slice(0, found.index) : '').trimStart();
  const after = textOfHtml(found ? html.slice(found.index + found[0].length) : html);
  return {
    before: before.length > MAX_BEFORE ? `…${before.slice(-MAX_BEFORE)}` : before,
    hit: textOfHtml(found?.[1] ?? ''),
    after: after.slice(0, MAX_AFTER),
  };
}
