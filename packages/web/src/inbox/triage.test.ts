import type { ConversationRow, Inbox } from '@parley/chat';
import { drawnGroups, inboxGroups, newestOf, type RecentConversation, sortedRecent } from './triage.js';

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

  it('keep their counts while folded', () => {
    const { groups, hasMore } = drawnGroups(inboxGroups(INBOX, 'all', policyOf), new Set([5]), 100);
    expect(keysOf(groups)).toEqual(['dm:7']);
    expect(groups[1]!.sections[0]!.count).toBe(4);
    expect(hasMore).toBe(false);
  });

  it('draw a limited number of rows', () => {
    const { groups, hasMore } = drawnGroups(inboxGroups(INBOX, 'all', policyOf), new Set(), 2);
    expect(keysOf(groups)).toEqual(['dm:7', '5:plain']);
    expect(hasMore).toBe(true);
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
