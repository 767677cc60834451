import { Chat, type Chat as ChatType } from '@parley/chat';
import { foldedIds, mentionCount, unreadIds } from './channel-lists.js';

const ALWAYS = 2;
const NEVER = 3;
const MUTED = 1;

/** Chat with channels named after their ids: the first is inactive, the second muted. */
function chatWith(count: number, demotion?: number): ChatType {
  const chat = new Chat({ gateway: {} as never });
  if (demotion) chat.state.fields.set('user_settings', { demote_inactive_streams: demotion } as never);
  for (let id = 1; id <= count; id++) {
    const channel = { stream_id: id, name: `channel ${id}`, is_archived: false, is_recently_active: id !== 1 };
    const own = { is_muted: id === 2, pin_to_top: false };
    chat.state.channels.set(id, { channel, own, membership: 'subscribed' } as never);
  }
  return chat;
}

/** Receives an unread message. */
function receive({ state }: ChatType, id: number, key: string, mentions: number): void {
  const [, channelId, topic] = key.split(':');
  state.unread.destinations.set(id, { kind: 'channel', channelId: Number(channelId), topic: topic! });
  state.unread.byDestination.set(key, new Set([id]));
  state.unread.tallies.set(key, { count: 1, mentions, newest: id });
  state.unread.topicKeys.set(Number(channelId), new Set([key]));
}

describe('folded channels', () => {
  it.each([
    ['always', 5, ALWAYS, [1, 2]],
    ['never', 40, NEVER, [2]],
    ['by default among few channels', 29, undefined, [2]],
    ['by default among many channels', 30, undefined, [1, 2]],
  ])('are the muted ones, and the inactive ones %s', (_, count, demotion, expected) => {
    expect([...foldedIds(chatWith(count, demotion))]).toEqual(expected);
  });

  it('exclude pinned channels', () => {
    const chat = chatWith(3, ALWAYS);
    for (const id of [1, 2]) {
      chat.state.channels.change(id, (entry) => ({ ...entry, own: { ...entry.own!, pin_to_top: true } }));
    }
    expect(foldedIds(chat).size).toBe(0);
  });
});

it('lists channels with counted unread messages or mentions, and counts mentions', () => {
  const chat = chatWith(3);
  chat.state.policies.set('3:gossip', { visibility_policy: MUTED } as never);
  receive(chat, 1, 'channel:3:gossip', 0);
  receive(chat, 2, 'channel:9:unknown channel', 1);
  expect([unreadIds(chat), mentionCount(chat)]).toEqual([[], 0]);
  receive(chat, 3, 'channel:3:gossip', 1);
  expect([unreadIds(chat), mentionCount(chat)]).toEqual([[3], 1]);
});
