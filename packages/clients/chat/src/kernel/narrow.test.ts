import {
  type Address,
  covers,
  destinationOf,
  formatAddress,
  type Narrow,
  narrowKey,
  narrowOf,
  parseAddress,
  withoutSelf,
} from './narrow.js';

const NAMES = {
  selfId: 8,
  channel: (id: number) => ({ 9: 'design', 12: 'release notes', 15: '日本', 16: 'a&b', 17: 'v1.2 (x)' })[id],
  person: (id: number) => ({ 8: 'Me', 10: 'King Hamlet', 11: 'Iago "the" <ensign>' })[id],
};

const inNarrow = (narrow: Narrow, near: number | null = null): Address => ({ view: 'narrow', narrow, near });
const channel = (operand: number | string) => ({ operator: 'channel', operand }) as const;
const topic = (operand: string) => ({ operator: 'topic', operand }) as const;

describe('parseAddress and formatAddress', () => {
  it.each([
    ['#narrow/channel/9-design', [channel(9)]],
    ['#narrow/channel/12-release-notes', [channel(12)]],
    ['#narrow/channel/15-.E6.97.A5.E6.9C.AC/topic/Sprint.20plan', [channel(15), topic('Sprint plan')]],
    ['#narrow/channel/16-a.26b/topic/', [channel(16), topic('')]],
    ['#narrow/channel/17-v1.2E2-.28x.29/topic/50.25', [channel(17), topic('50%')]],
    ['#narrow/channel/9-design/topic/T/with/215', [channel(9), topic('T'), { operator: 'with', operand: 215 }]],
    ['#narrow/dm/10-King-Hamlet', [{ operator: 'dm', operand: [10] }]],
    ['#narrow/dm/10,11-group', [{ operator: 'dm', operand: [10, 11] }]],
    ['#narrow/dm-including/11-Iago-the-ensign-', [{ operator: 'dm-including', operand: [11] }]],
    ['#narrow/sender/10', [{ operator: 'sender', operand: 10 }]],
    ['#narrow/is/starred', [{ operator: 'is', operand: 'starred' }]],
    [
      '#narrow/-is/resolved/has/image',
      [
        { operator: 'is', operand: 'resolved', negated: true },
        { operator: 'has', operand: 'image' },
      ],
    ],
    ['#narrow/search/two.20words', [{ operator: 'search', operand: 'two words' }]],
    ['#narrow/channels/public', [{ operator: 'channels', operand: 'public' }]],
    ['#narrow/in/all', [{ operator: 'in', operand: 'all' }]],
    ['#feed', []],
  ] as [string, Narrow][])('reads and writes %s', (hash, narrow) => {
    expect(parseAddress(hash)).toEqual(inNarrow(narrow));
    const written = formatAddress(inNarrow(narrow), NAMES);
    expect(parseAddress(written)).toEqual(inNarrow(narrow));
    if (!/sender/.test(hash)) expect(written).toBe(hash);
  });

  it.each([
    ['#narrow/stream/9-design/subject/T', [channel(9), topic('T')], null],
    ['narrow/channel/9', [channel(9)], null],
    ['#narrow/stream/design', [channel('design')], null],
    ['#narrow/channel/9-design/topic/T/near/214', [channel(9), topic('T')], 214],
    ['#narrow/id/7/near/7', [{ operator: 'id', operand: 7 }], 7],
    ['#narrow/pm-with/11,10-group', [{ operator: 'dm', operand: [10, 11] }], null],
    ['#narrow/group-pm-with/10-x', [{ operator: 'dm-including', operand: [10] }], null],
    ['#narrow/from/a.40b', [{ operator: 'sender', operand: 'a@b' }], null],
    ['#narrow/is/private', [{ operator: 'is', operand: 'dm' }], null],
    ['#narrow/is/unread/', [{ operator: 'is', operand: 'unread' }], null],
    ['#all_messages', [], null],
    ['#user/10', [{ operator: 'dm', operand: [10] }], null],
  ] as [string, Narrow, number | null][])('reads the older or shorter form %s', (hash, narrow, near) => {
    expect(parseAddress(hash)).toEqual(inNarrow(narrow, near));
  });

  it.each(['#narrow/channel', '#narrow/dm/x', '#narrow/near/x', '#narrow/unheard/of', '#narrow/topic/.ff', '#', ''])(
    'reports that %j has no meaning',
    (hash) => expect(parseAddress(hash)).toBeNull(),
  );

  it('names only the user in a conversation with oneself', () => {
    const own = inNarrow([{ operator: 'dm', operand: [] }]);
    const hash = `#narrow/dm/${NAMES.selfId}-Me`;
    expect(formatAddress(own, NAMES)).toBe(hash);
    expect(withoutSelf(parseAddress(hash), NAMES.selfId)).toEqual(own);
    const group = inNarrow([{ operator: 'dm', operand: [10] }]);
    expect(withoutSelf(parseAddress(`#narrow/dm/${NAMES.selfId},10-group`), NAMES.selfId)).toEqual(group);
  });

  it("parses Zulip's address of reactions to the user's messages", () => {
    const address = withoutSelf(parseAddress('#narrow/has/reaction/sender/me'), NAMES.selfId);
    expect(address).toEqual(
      inNarrow([
        { operator: 'has', operand: 'reaction' },
        { operator: 'sender', operand: NAMES.selfId },
      ]),
    );
  });

  it('reads and writes pages', () => {
    expect(['#inbox', '#recent', '#recent_topics', '#drafts'].map(parseAddress)).toEqual(
      ['inbox', 'recent', 'recent', 'drafts'].map((view) => ({ view })),
    );
    expect(parseAddress('#settings/profile')).toEqual({ view: 'other', path: ['settings', 'profile'] });
    expect(parseAddress('#streams/all')).toEqual({ view: 'other', path: ['channels', 'all'] });
    expect(parseAddress('#invite')).toEqual({ view: 'other', path: ['organization', 'invitations'] });
    expect(parseAddress('#about-zulip')).toEqual({ view: 'other', path: ['organization', 'organization-profile'] });
    expect(parseAddress('#subscriptions')).toEqual({ view: 'other', path: ['channels'] });
    expect(formatAddress({ view: 'other', path: ['channels', '9', 'a b'] }, NAMES)).toBe('#channels/9/a.20b');
    expect(formatAddress(inNarrow([channel(9)], 5), NAMES)).toBe('#narrow/channel/9-design/near/5');
  });
});

describe('a narrow', () => {
  const plans = { kind: 'channel', channelId: 9, topic: 'Plans' } as const;

  it('converts to destinations and back', () => {
    const direct = { kind: 'direct', userIds: [10, 11] } as const;
    for (const to of [plans, direct]) expect(destinationOf(narrowOf(to))).toEqual(to);
    expect(destinationOf([...narrowOf(plans), { operator: 'with', operand: 5 }])).toEqual(plans);
    for (const narrow of [[], [channel(9)], [channel('x'), topic('')], [{ ...channel(9), negated: true }, topic('')]]) {
      expect(destinationOf(narrow as Narrow)).toBeNull();
    }
  });

  it('uses the same key for topics that differ only in case', () => {
    expect(narrowKey([channel(9), topic('plans')])).toBe(narrowKey([topic('PLANS'), channel(9)]));
    expect(narrowKey([channel(9)])).not.toBe(narrowKey([channel(12)]));
  });

  it('covers destinations with all messages visible in it', () => {
    expect(
      [[], [channel(9)], narrowOf(plans), [channel(9), topic('plans')]].map((each) => covers(each, plans)),
    ).toEqual([true, true, true, true]);
    expect(
      [[channel(12)], [topic('Plans')], [{ operator: 'is', operand: 'starred' }] as Narrow].map((each) =>
        covers(each, plans),
      ),
    ).toEqual([false, false, false]);
  });
});
