import type { AccessTokenId, ChannelId, TokenConversation, UserId } from './ids.js';
import { conversationAt, directPlace, type Place } from './token-scope.js';

const inTopic = (channelId: number, topic: string | null) =>
  ({ kind: 'channel', channelId: channelId as ChannelId, topic }) as const;
const direct = (...userIds: number[]) => directPlace(userIds[0] as UserId, userIds.slice(1) as UserId[]);

it.each<[string, TokenConversation, Place, boolean]>([
  ['its topic', inTopic(1, 'Lunch'), inTopic(1, 'Lunch'), true],
  ['its topic in another case', inTopic(1, 'Lunch'), inTopic(1, 'LUNCH'), true],
  ['the empty topic', inTopic(1, ''), inTopic(1, ''), true],
  ['another topic', inTopic(1, ''), inTopic(1, 'Lunch'), false],
  ['the whole channel of its topic', inTopic(1, 'Lunch'), inTopic(1, null), false],
  ['its topic in another channel', inTopic(1, 'Lunch'), inTopic(2, 'Lunch'), false],
  ['a topic of its channel', inTopic(1, null), inTopic(1, 'Lunch'), true],
  ['its whole channel', inTopic(1, null), inTopic(1, null), true],
  ['another channel', inTopic(1, null), inTopic(2, null), false],
  ['its direct conversation', direct(1, 2), direct(2, 1), true],
  ['a direct conversation with more people', direct(1, 2), direct(1, 2, 3), false],
  ['a direct conversation with fewer people', direct(1, 2, 3), direct(1, 2), false],
  ['a direct conversation with oneself', direct(1, 2), direct(1), false],
  ['a direct conversation with somebody else', direct(1, 2), direct(1, 3), false],
  ['a channel', direct(1), inTopic(1, null), false],
  ['a direct conversation', inTopic(1, null), direct(1), false],
])('decides whether a scope includes %s', (_what, conversation, place, isIncluded) => {
  const scope = { tokenId: 1 as AccessTokenId, actions: ['read'], conversations: [conversation] } as const;
  expect(conversationAt(scope, place) !== undefined).toBe(isIncluded);
});
