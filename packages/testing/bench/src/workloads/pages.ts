import type { ChannelId } from '@parley/domain/kernel';

/** Path of a page of a hundred channel messages, up to the newest or to a given message. */
export function pagePath(channelId: ChannelId, anchor: 'newest' | number): string {
  const narrow = JSON.stringify([{ operator: 'channel', operand: channelId }]);
  return `/api/v1/messages?${new URLSearchParams({ anchor: String(anchor), num_before: '99', num_after: '0', narrow })}`;
}

/** Path of the newest message that contains a word. */
export function searchPath(word: string): string {
  const narrow = JSON.stringify([{ operator: 'search', operand: word }]);
  return `/api/v1/messages?${new URLSearchParams({ anchor: 'newest', num_before: '0', num_after: '0', narrow })}`;
}

/** Path of the newest messages of a topic. */
export function topicPath(channelId: ChannelId, topic: string, count: number): string {
  const narrow = JSON.stringify([
    { operator: 'channel', operand: channelId },
    { operator: 'topic', operand: topic },
  ]);
  const range = { anchor: 'newest', num_before: String(count), num_after: '0' };
  return `/api/v1/messages?${new URLSearchParams({ ...range, narrow })}`;
}
