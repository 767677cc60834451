import type { Narrow } from '../kernel/narrow.js';
import { ChatState } from '../kernel/state.js';
import { parseSearch, searchSuggestions, UnclearName } from './parse-search.js';
import { formatSearch, isSearch } from './search.js';

function stateWith(): ChatState {
  const state = new ChatState();
  state.fields.set('user_id', 1);
  for (const [id, full_name, email] of [
    [1, 'Hamlet', 'hamlet@example.com'],
    [2, 'Iago', 'iago@example.com'],
    [3, "Cordelia, Lear's daughter", 'cordelia@example.com'],
    [4, 'Iago', 'other@example.com'],
  ] as const) {
    const user = { user_id: id, full_name, email, delivery_email: null };
    state.people.set(id, { user: user as never, list: 'realm_users' });
  }
  for (const [id, name] of [
    [9, 'design'],
    [10, 'core team'],
    [11, 'c++'],
    [12, '9'],
  ] as const) {
    state.channels.set(id, { channel: { stream_id: id, name, is_archived: false }, membership: 'subscribed' } as never);
  }
  return state;
}

const state = stateWith();
const parse = (text: string, scope?: Narrow) => {
  const address = parseSearch(state, text, scope);
  if (address.view !== 'narrow') throw new Error('Not a narrow');
  return address;
};

describe('search', () => {
  it.each<[text: string, narrow: Narrow]>([
    ['two words', [{ operator: 'search', operand: 'two words' }]],
    ['"two words" here', [{ operator: 'search', operand: '"two words" here' }]],
    [
      'from:me has:link',
      [
        { operator: 'sender', operand: 1 },
        { operator: 'has', operand: 'link' },
      ],
    ],
    ['From:IAGO', [{ operator: 'sender', operand: 2 }]],
    ['sender:other@example.com', [{ operator: 'sender', operand: 4 }]],
    ['mentions:4', [{ operator: 'mentions', operand: 4 }]],
    [
      'stream:"Core Team" act',
      [
        { operator: 'channel', operand: 10 },
        { operator: 'search', operand: 'act' },
      ],
    ],
    ['channel:c++', [{ operator: 'channel', operand: 11 }]],
    ['channel:9', [{ operator: 'channel', operand: 12 }]],
    ['channel:10', [{ operator: 'channel', operand: 10 }]],
    ['topic:""', [{ operator: 'topic', operand: '' }]],
    ['subject:"act two', [{ operator: 'topic', operand: 'act two' }]],
    ['in:all', [{ operator: 'in', operand: 'all' }]],
    ['-is:private', [{ operator: 'is', operand: 'dm', negated: true }]],
    ['dm:"Cordelia, Lear\'s daughter"', [{ operator: 'dm', operand: [3] }]],
    ['dm:cordelia@example.com,iago,me', [{ operator: 'dm', operand: [2, 3] }]],
    ['from:cordelia', [{ operator: 'sender', operand: 3 }]],
    ['channel:core', [{ operator: 'channel', operand: 10 }]],
    ['dm:ham,daugh', [{ operator: 'dm', operand: [3] }]],
    ['pm-with:me', [{ operator: 'dm', operand: [] }]],
    [
      'channels:public id:7',
      [
        { operator: 'channels', operand: 'public' },
        { operator: 'id', operand: 7 },
      ],
    ],
  ])('parses operators: %s', (text, narrow) => {
    expect(parse(text)).toEqual({ view: 'narrow', narrow, near: null });
  });

  it.each(['foo:bar', 'id:x', 'date:2026-01-01', 'https://a.example', 'is:'])('parses plain words: %s', (text) =>
    expect(parse(text).narrow).toEqual([{ operator: 'search', operand: text }]),
  );

  it.each([
    ['from:iago', 4],
    ['from:iag', 4],
    ['from:"cordelia, lear\'s daughter"', 3],
    ['from:cord', 3],
  ])('finds active people before inactive ones: %s', (text, id) => {
    const changed = stateWith();
    for (const inactive of [2, 3]) {
      const { user } = changed.people.get(inactive)!;
      changed.people.set(inactive, { user, list: 'realm_non_active_users' });
    }
    expect(parseSearch(changed, text)).toMatchObject({ narrow: [{ operator: 'sender', operand: id }] });
  });

  it.each([
    ['from:nobody act', new UnclearName('person', 'nobody', false)],
    ['-mentions:iag', new UnclearName('person', 'iag', true)],
    ['dm:iago,nobody', new UnclearName('person', 'nobody', false)],
    ['channel:nowhere', new UnclearName('channel', 'nowhere', false)],
    ['channel:c', new UnclearName('channel', 'c', true)],
  ])('rejects an unclear name: %s', (text, expected) => {
    let thrown: unknown;
    try {
      parse(text);
    } catch (error) {
      thrown = error;
    }
    expect({ ...(thrown as UnclearName) }).toEqual({ ...expected });
  });

  it('opens at a message', () => {
    expect(parse('channel:design near:5')).toEqual({
      view: 'narrow',
      narrow: [{ operator: 'channel', operand: 9 }],
      near: 5,
    });
  });

  it('stays in the current place unless the input names another one', () => {
    const scope: Narrow = [{ operator: 'channel', operand: 9 }];
    expect(parse('from:me act', scope).narrow.map(({ operator }) => operator)).toEqual(['channel', 'sender', 'search']);
    expect(parse('channel:10 act', scope).narrow).toEqual(parse('channel:10 act').narrow);
  });

  it.each<Narrow>([
    [
      { operator: 'channel', operand: 10 },
      { operator: 'topic', operand: 'act two' },
      { operator: 'search', operand: '"the end" now' },
    ],
    [
      { operator: 'topic', operand: '' },
      { operator: 'has', operand: 'link', negated: true },
    ],
    [{ operator: 'sender', operand: 4 }],
    [{ operator: 'sender', operand: 1 }],
    [{ operator: 'dm-including', operand: [2, 3] }],
    [
      { operator: 'dm', operand: [3] },
      { operator: 'is', operand: 'starred' },
    ],
    [
      { operator: 'mentions', operand: 1 },
      { operator: 'id', operand: 12 },
    ],
    [
      { operator: 'channel', operand: 12 },
      { operator: 'has', operand: 'image' },
      { operator: 'after', operand: '2026-11' },
    ],
  ])('formats a narrow as equivalent input (%#)', (...narrow) => {
    expect(parse(formatSearch(state, narrow)).narrow).toEqual(narrow);
  });

  it('does not treat conversations, channels or views as searches', () => {
    const narrows = ['channel:design', 'channel:design topic:x', 'dm:iago', 'is:starred', ''].map(
      (it) => parse(it).narrow,
    );
    expect(narrows.map(isSearch)).toEqual([false, false, false, false, false]);
    const searches = ['x', 'topic:x', '-is:dm', 'has:link', 'channel:design has:link', 'from:me'];
    expect(searches.map((it) => isSearch(parse(it).narrow))).toEqual(searches.map(() => true));
  });
});

describe('searchSuggestions', () => {
  const parts = (text: string, scope?: Narrow) => searchSuggestions(state, text, scope).map(({ part }) => part);
  state.topics.set(9, new Map([['act two', { name: 'act two', maxId: 5 }]]) as never);

  it.each<[text: string, parts: string[]]>([
    [
      '',
      [
        ...['channel:', 'topic:', 'sender:', 'dm:', 'dm-including:', 'mentions:', 'is:', 'has:'],
        ...['before:', 'after:', 'during:'],
      ],
    ],
    ['d', ['dm:', 'dm-including:', 'during:', 'channel:design', `sender:"Cordelia, Lear's daughter"`]],
    ['-fr', ['-sender:']],
    ['news is:u', ['is:unread']],
    ['-has:', ['-has:link', '-has:image', '-has:attachment', '-has:reaction']],
    ['from:ham', ['sender:me']],
    ['dm:iag', ['dm:Iago', 'dm:4']],
    ['channel:"core t', ['channel:"core team"']],
    ['channel:design topic:', ['topic:"act two"']],
    ['topic:act', []],
    ['id:5', []],
    ['after:2026', ['after:2026-03-01', 'after:2026-02-28', 'after:2026-03']],
    ['-during:2026-02', ['-during:2026-02-28']],
    ['topic:"act two"', []],
  ])('completes %s', (text, expected) => {
    jest.useFakeTimers({ now: new Date(2026, 2, 1, 9) });
    expect(parts(text)).toEqual(expected);
  });

  it('suggests topics of the current channel', () => {
    expect(parts('topic:a', [{ operator: 'channel', operand: 9 }])).toEqual(['topic:"act two"']);
  });

  it('keeps the input before the completed part', () => {
    expect(searchSuggestions(state, 'two words -is:st')).toEqual([
      { operator: 'is', value: 'starred', part: '-is:starred', isNegated: true, text: 'two words -is:starred' },
    ]);
  });
});
