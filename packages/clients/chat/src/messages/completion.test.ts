import type { Destination } from '../kernel/narrow.js';
import { ChatState } from '../kernel/state.js';
import { channelOf, completionAt, rankOf, resembles, suggestionsFor } from './completion.js';

const TOPIC: Destination = { kind: 'channel', channelId: 9, topic: 'plans' };
const LANGUAGES = ['java', 'javascript', 'js', 'json', 'jsx', 'python'];
const NOTES: Destination = { kind: 'direct', userIds: [] };

function stateWith(): ChatState {
  const state = new ChatState();
  const user = (id: number, full_name: string, more = {}) => ({ user_id: id, full_name, is_bot: false, ...more });
  const group = (id: number, name: string, more = {}) =>
    ({ id, name, description: '', members: [], direct_subgroup_ids: [], can_mention_group: 1, ...more }) as never;
  const channel = (id: number, name: string, membership = 'subscribed') =>
    state.channels.set(id, { channel: { stream_id: id, name, is_archived: false }, membership } as never);
  state.fields.set('user_id', 1);
  for (const person of [
    user(1, 'Jo Smith'),
    user(2, 'John Smithers'),
    user(3, 'Sam Doe'),
    user(4, 'Sam Doe'),
    user(5, 'Åsa Öberg'),
    user(6, 'Smith Bot', { is_bot: true }),
    user(7, 'all'),
  ]) {
    state.people.set(person.user_id, { user: person as never, list: 'realm_users' });
  }
  state.people.set(8, { user: user(8, 'Jo Former') as never, list: 'realm_non_active_users' });
  state.groups.set(1, group(1, 'role:members', { is_system_group: true, members: [1] }));
  state.groups.set(2, group(2, 'support'));
  state.groups.set(3, group(3, 'secret society', { can_mention_group: 9 }));
  channel(9, 'design');
  channel(10, 'design reviews', 'never');
  channel(11, 'a*b');
  state.topics.set(
    9,
    new Map(
      ['Sprint plan', 'old sprint', 'mail me@12'].map((name, i) => [name, { channelId: 9, name, maxId: 100 - i }]),
    ),
  );
  state.subscribers.set(9, [2]);
  return state;
}

const inserts = (text: string, destination: Destination = TOPIC) => {
  const query = completionAt(text, text.length);
  return query === null
    ? null
    : suggestionsFor(stateWith(), query, destination, [], LANGUAGES).map(({ insert }) => insert);
};

describe('completionAt', () => {
  it.each([
    ['@jo sm', 'mention', 'jo sm', 0],
    ['Hello @_**Jo', 'mention', 'Jo', 6],
    ['(@', 'mention', '', 1],
    ['see #des', 'channel', 'des', 4],
    ['#**design>spr', 'topic', 'spr', 0],
    ['nice :thu', 'emoji', 'thu', 5],
    ['`code` @jo', 'mention', 'jo', 7],
    ['```\ncode\n```\n@jo', 'mention', 'jo', 13],
    ['/po', 'command', 'po', 0],
    ['/', 'command', '', 0],
    ['See\n```py', 'language', 'py', 7],
    ['~~~c++', 'language', 'c++', 3],
  ])('finds a query in %j', (text, kind, found, start) => {
    expect(completionAt(text, text.length)).toMatchObject({ kind, text: found, start });
  });

  it.each([
    'me@example.com',
    '@ jo',
    '# Heading',
    '@**Jo Smith** ',
    'at 10:30',
    ':D',
    '`@jo',
    '```\n@jo',
    'a\n',
    '',
    'a\n/po',
    'a/po',
    '```',
    '```\ncode\n```py',
  ])('finds no query in %j', (text) => {
    expect(completionAt(text, text.length)).toBeNull();
  });

  it('ends the query at the cursor', () => {
    expect(completionAt('@jo and more', 3)).toMatchObject({ text: 'jo' });
  });
});

it.each([
  ['/po', ['/poll ']],
  ['/', ['/me ', '/poll ', '/todo ']],
  ['```javas', ['javascript\n']],
  ['```js', ['js\n', 'json\n', 'jsx\n']],
])('detects commands and code languages in %j', (text, expected) => {
  expect(inserts(text)).toEqual(expected);
});

it.each([
  ['john smith', 'John Smith', 0],
  ['jo', 'John Smith', 1],
  ['jo sm', 'John Smith', 2],
  ['sm jo', 'John Smith', 2],
  ['up thu', 'thumbs_up', 2],
  ['oberg', 'Åsa Öberg', 2],
  ['ann@ex', 'ann＠example.org', 1],
  ['ann', 'Anna “Ann” Lee', 1],
  ['ann lee', 'Lee “Ann”', 2],
  ['s s', 'John Smith', null],
  ['ohn', 'John Smith', null],
])('ranks %j against %j', (query, name, rank) => {
  expect(rankOf(query, name)).toBe(rank);
});

describe('suggestionsFor', () => {
  it('prefers people of the conversation and omits former members', () => {
    expect(inserts('@jo')).toEqual(['@**John Smithers** ', '@**Jo Smith** ']);
    expect(inserts('@sm')).toEqual(['@**Smith Bot** ', '@**John Smithers** ', '@**Jo Smith** ']);
  });

  it('prefers people who wrote in the topic, then in the channel, the latest first', () => {
    const state = stateWith();
    const write = (id: number, sender_id: number, subject: string) =>
      state.messages.set(id, { id, sender_id, stream_id: 9, subject } as never);
    write(50, 4, 'Plans');
    write(51, 3, 'plans');
    write(52, 5, 'other');
    write(53, 1, 'plans');
    const found = suggestionsFor(state, completionAt('@', 1)!, TOPIC).map(({ id }) => id);
    expect(found.slice(0, 4)).toEqual([3, 4, 5, 2]);
  });

  it('offers the channel itself before its topics until a topic is typed', () => {
    expect(inserts('#**design>')?.[0]).toBe('#**design** ');
    expect(inserts('#**design>old')).toEqual(['#**design>old sprint** ']);
  });

  it('includes the id if a name is ambiguous or means everyone', () => {
    expect(inserts('@sam')).toEqual(['@**Sam Doe|3** ', '@**Sam Doe|4** ']);
    expect(inserts('@al', NOTES)).toEqual(['@**all|7** ', '@**all** ']);
  });

  it('keeps a mention silent if it was typed that way', () => {
    expect(inserts('@_jo sm')).toEqual(['@_**Jo Smith** ', '@_**John Smithers** ']);
  });

  it('offers groups that the user may mention', () => {
    expect(inserts('@su')).toEqual(['@*support* ']);
    expect(inserts('@secret')).toEqual([]);
    expect(inserts('@_secret')).toEqual(['@_*secret society* ']);
  });

  it('offers the topic wildcard in channels only', () => {
    expect(inserts('@topic')).toEqual(['@**topic** ']);
    expect(inserts('@topic', NOTES)).toEqual([]);
  });

  it('offers subscribed channels first', () => {
    expect(inserts('#des')).toEqual(['#**design>', '#**design reviews>']);
  });

  it('offers topics of the channel, latest first', () => {
    expect(inserts('#design>spr')).toEqual(['#**design>Sprint plan** ', '#**design>old sprint** ']);
    const query = completionAt('#des>', 5)!;
    expect(channelOf(stateWith(), query)).toBe(9);
  });

  it('uses Markdown links for names that would end the short syntax', () => {
    expect(inserts('#a')).toEqual(['[#ab](#narrow/channel/11-a*b) ']);
    expect(inserts('#design>mail')).toEqual(['[#design > mail me@12](#narrow/channel/9-design/topic/mail.20me.4012) ']);
  });

  it('keeps the order of emoji', () => {
    const names = ['thumbs_up', 'thumbs_down', 'hand_thumb'].map((name) => ({ name, character: '', imageUrl: null }));
    const query = completionAt(':thumb', 6)!;
    const found = suggestionsFor(stateWith(), query, TOPIC, names).map(({ insert }) => insert);
    expect(found).toEqual([':thumbs_up: ', ':thumbs_down: ', ':hand_thumb: ']);
  });
});

it.each([
  ['verona', 'Verona', true],
  ['verna', 'Verona', true],
  ['vreona', 'Verona', true],
  ['veronna', 'Verona', true],
  ['vexona', 'Verona', true],
  ['planing q4', 'Q4 planning', true],
  ['vxrxna', 'Verona', false],
  ['rme', 'Rome', false],
  ['cat', 'car', false],
])('finds names despite a mistyped letter: %s in %s', (query, name, isFound) => {
  expect(resembles(query, name)).toBe(isFound);
});
