import { Chat, type ConversationRow, type Inbox } from '@parley/chat';
import {
  drawnGroups,
  dueCount,
  followedRows,
  inboxGroups,
  newestOf,
  type RecentConversation,
  sortedRecent,
} from './triage.js';

const topic = (name: string, count = 1, hasMention = false): ConversationRow => {
  const destination = { kind: 'channel', channelId: 5, topic: name } as const;
  return { key: `5:${name}`, destination, lastMessageId: 1, unread: { count, hasMention } };
};
const direct = (userId: number): ConversationRow => {
  const destination = { kind: 'direct', userIds: [userId] } as const;
  return { key: `dm:${userId}`, destination, lastMessageId: 2, unread: { count: 1, hasMention: false } };
};

const policyOf = ({ key }: ConversationRow) => (key === '5:followed' ? 'followed' : 'none');

const INBOX: Inbox = {
  directs: [direct(7)],
  groups: [
    {
      key: 'all',
      name: '',
      channels: [{ channelId: 5, topics: [topic('plain', 2), topic('mention', 1, true), topic('followed')] }],
    },
  ],
};

const keysOf = (groups: ReturnType<typeof inboxGroups>) =>
  groups.flatMap(({ sections }) => sections.flatMap(({ rows }) => rows.map(({ key }) => key)));
const drawnKeys = ({ groups }: ReturnType<typeof drawnGroups>) =>
  groups.flatMap(({ sections }) => sections.flatMap(({ drawn }) => drawn.map(({ key }) => key)));

describe('sections of the inbox', () => {
  it.each([
    ['all', ['dm:7', '5:plain', '5:mention', '5:followed']],
    ['mentions', ['5:mention']],
    ['direct', ['dm:7']],
    ['followed', ['5:followed']],
  ] as const)('contain the conversations of the filter "%s"', (filter, expected) => {
    expect(keysOf(inboxGroups(INBOX, filter, policyOf))).toEqual(expected);
  });

  it('count the messages of the filter', () => {
    const [, channels] = inboxGroups(INBOX, 'all', policyOf);
    expect(channels!.sections).toMatchObject([{ key: 5, count: 4, hasMention: true }]);
    const [mentions] = inboxGroups(INBOX, 'mentions', policyOf);
    expect(mentions!.sections).toMatchObject([{ key: 5, count: 1 }]);
  });

  it('keep their rows and counts while folded', () => {
    const drawn = drawnGroups(inboxGroups(INBOX, 'all', policyOf), new Set([5]), 100);
    expect(drawnKeys(drawn)).toEqual(['dm:7']);
    expect(drawn.groups[1]!.sections[0]!.count).toBe(4);
    expect(drawn.groups[1]!.sections[0]!.rows).toHaveLength(3);
    expect(drawn.hasMore).toBe(false);
  });

  it.each([
    [1, [], 1, true],
    [2, ['dm:7'], 1, true],
    [3, ['dm:7'], 2, true],
    [4, ['dm:7', '5:plain'], 2, true],
    [6, ['dm:7', '5:plain', '5:mention', '5:followed'], 2, false],
  ])('draw at most %i headings and rows', (limit, keys, sections, hasMore) => {
    const drawn = drawnGroups(inboxGroups(INBOX, 'all', policyOf), new Set(), limit);
    expect(drawnKeys(drawn)).toEqual(keys);
    expect(drawn.groups.flatMap((group) => group.sections)).toHaveLength(sections);
    expect(drawn.hasMore).toBe(hasMore);
  });
});

describe('newest ids', () => {
  it('are the greatest, in descending order', () => {
    expect(newestOf([3, 9, 1, 7, 5], 3)).toEqual([9, 7, 5]);
    expect(newestOf([2, 1], 3)).toEqual([2, 1]);
    expect(newestOf([], 3)).toEqual([]);
  });
});

describe('recent conversations', () => {
  const recent = (row: ConversationRow, senderIds: readonly number[]): RecentConversation => {
    return { ...row, senderIds, lastMessageAt: null };
  };
  const rows = [
    recent(topic('quiet', 0), [1]),
    recent(direct(7), [7, 1]),
    recent(topic('busy', 3), [2, 3, 4]),
    recent(topic('followed', 1), [2]),
  ];
  const sorted = (filter: Parameters<typeof sortedRecent>[1], order: Parameters<typeof sortedRecent>[2]) =>
    sortedRecent(rows, filter, order, 1, policyOf).map(({ key }) => key);

  it.each([
    ['time', ['5:quiet', 'dm:7', '5:busy', '5:followed']],
    ['unread', ['5:busy', 'dm:7', '5:followed', '5:quiet']],
    ['participants', ['5:busy', 'dm:7', '5:quiet', '5:followed']],
  ] as const)('are sorted by %s, then by time', (order, expected) => {
    expect(sorted('all', order)).toEqual(expected);
  });

  it.each([
    ['unread', ['dm:7', '5:busy', '5:followed']],
    ['participated', ['5:quiet', 'dm:7']],
    ['direct', ['dm:7']],
    ['followed', ['5:followed']],
  ] as const)('are limited to the filter "%s"', (filter, expected) => {
    expect(sorted(filter, 'time')).toEqual(expected);
  });
});

describe('followed topics', () => {
  it('are those of subscribed channels, latest first', () => {
    const chat = new Chat({ gateway: {} as never });
    for (const [id, membership] of [
      [5, 'subscribed'],
      [6, 'former'],
    ] as const) {
      chat.state.channels.set(id, { channel: { stream_id: id, name: 'c' }, own: null, membership } as never);
    }
    const follow = (stream_id: number, topic_name: string, visibility_policy: number) =>
      chat.state.policies.set(`${stream_id}:${topic_name.toLowerCase()}`, {
        stream_id,
        topic_name,
        visibility_policy,
      } as never);
    follow(5, 'unknown', 3);
    follow(5, 'Latest', 3);
    follow(5, 'muted', 1);
    follow(6, 'left', 3);
    chat.state.topics.set(5, new Map([['latest', { channelId: 5, name: 'latest', maxId: 9 }]]));
    expect(followedRows(chat)).toMatchObject([
      { key: '5:latest', destination: { topic: 'latest' }, lastMessageId: 9 },
      { key: '5:unknown', destination: { topic: 'unknown' }, lastMessageId: 0 },
    ]);
  });
});

describe('due times', () => {
  it('are those before the end of the day', () => {
    const now = new Date(2026, 4, 10, 12);
    const at = (day: number, hour: number) => new Date(2026, 4, day, hour).getTime() / 1000;
    expect(dueCount([at(9, 8), at(10, 13), at(10, 23), at(11, 0), at(12, 9)], now)).toBe(3);
  });
});
