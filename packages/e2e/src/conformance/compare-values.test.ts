import { compareValues } from './compare-values.js';
import { Identities } from './identities.js';
import type { Json } from './json.js';

function placesOfDifferences(recorded: Json, here: Json): readonly string[] {
  const ids = new Identities();
  ids.learn('user', 10, 8);
  ids.learn('channel', 5, 6);
  return compareValues(ids, recorded, here).map(({ where }) => where);
}

it.each<[string, Json, Json]>([
  ['ids of the same things', { user_id: 10, stream_id: 5 }, { user_id: 8, stream_id: 6 }],
  ['lists of ids in another order', { subscribers: [10, 11] }, { subscribers: [9, 8] }],
  ['maps keyed by ids', { reads: { 10: 'x', 11: 'y' } }, { reads: { 8: 'x', 9: 'y' } }],
  ['a channel that a draft is for', { type: 'stream', to: [5] }, { type: 'stream', to: [6] }],
  ['a user whom a scheduled message is for', { type: 'private', to: [10] }, { type: 'private', to: [8] }],
  ['times of the same unit', { timestamp: 1_795_156_044 }, { timestamp: 1_800_000_000 }],
  ['ids and hosts in texts', { msg: 'user10@<domain> left' }, { msg: 'user8@chat.example left' }],
  ['random parts of texts', { key: 'a'.repeat(32) }, { key: 'b'.repeat(32) }],
  ['older spellings of links', { content: '/#narrow/stream/5-x' }, { content: '/#narrow/channel/6-x' }],
  [
    'code cut into other pieces',
    { content: '<div class="codehilite"><pre><span class="n">x</span></pre></div>' },
    { content: '<div class="codehilite"><pre>x</pre></div>' },
  ],
  ['unordered lists', { streams: [{ name: 'b' }, { name: 'a' }] }, { streams: [{ name: 'a' }, { name: 'b' }] }],
  ['fields that the contract names', {}, { is_archived: false }],
  ['fields that the contract has dropped', { is_billing_admin: false }, {}],
  ['users named by id instead of address', { subscribed: { 'a@b.c': ['x'] } }, { subscribed: { 8: ['x'] } }],
  [
    'flags of notices',
    { sender_full_name: 'Welcome Bot', flags: [] },
    { sender_full_name: 'Welcome Bot', flags: ['read'] },
  ],
  ['a client without a name', { client: '' }, { client: 'Unspecified' }],
  ['avatars, which may be null', { avatar_url: null }, { avatar_url: 'https://x.example' }],
])('value comparison accepts %s', (_, recorded, here) => {
  expect(placesOfDifferences(recorded, here)).toEqual([]);
});

it.each<[string, Json, Json, string]>([
  ['an id of another thing', { user_id: 10 }, { user_id: 9 }, 'user_id'],
  ['milliseconds instead of seconds', { timestamp: 1_795_156_044 }, { timestamp: 1_795_156_044_000 }, 'timestamp'],
  ['a number that is no id', { role: 400 }, { role: 600 }, 'role'],
  ['another text', { msg: 'no' }, { msg: 'yes' }, 'msg'],
  ['another type', { value: null }, { value: 0 }, 'value'],
  ['a field that is missing', { a: { result: 'x' } }, { a: {} }, 'a.result'],
  ['a field that nothing names', {}, { surprise: 1 }, 'surprise'],
  ['a key of a map that is missing', { reads: { 10: 'x' } }, { reads: {} }, 'reads.10'],
  ['a key of a map that is too many', { reads: { 10: 'x' } }, { reads: { 8: 'x', 9: 'y' } }, 'reads.9'],
  ['a list of another length', { topics: ['a'] }, { topics: [] }, 'topics'],
  ['an ordered list in another order', { flags: ['a', 'b'] }, { flags: ['b', 'a'] }, 'flags.0'],
])('value comparison reports %s', (_, recorded, here, where) => {
  expect(placesOfDifferences(recorded, here)[0]).toBe(where);
});
