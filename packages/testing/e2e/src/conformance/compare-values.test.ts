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
  ['ids of the same objects', { user_id: 10, stream_id: 5 }, { user_id: 8, stream_id: 6 }],
  ['lists of ids in a different order', { subscribers: [10, 11] }, { subscribers: [9, 8] }],
  ['maps keyed by ids', { reads: { 10: 'x', 11: 'y' } }, { reads: { 8: 'x', 9: 'y' } }],
  ['the channel of a draft', { type: 'stream', to: [5] }, { type: 'stream', to: [6] }],
  ['the recipient of a scheduled message', { type: 'private', to: [10] }, { type: 'private', to: [8] }],
  ['times of the same unit', { timestamp: 1_795_156_044 }, { timestamp: 1_800_000_000 }],
  ['ids and hosts in texts', { msg: 'user10@<domain> left' }, { msg: 'user8@chat.example left' }],
  ['random parts of texts', { key: 'a'.repeat(32) }, { key: 'b'.repeat(32) }],
  ['older spellings of links', { content: '/#narrow/stream/5-x' }, { content: '/#narrow/channel/6-x' }],
  [
    'code with different tokens',
    { content: '<div class="codehilite"><pre><span class="n">x</span></pre></div>' },
    { content: '<div class="codehilite"><pre>x</pre></div>' },
  ],
  ['unordered lists', { streams: [{ name: 'b' }, { name: 'a' }] }, { streams: [{ name: 'a' }, { name: 'b' }] }],
  ['fields added by the contract', {}, { is_archived: false }],
  ['fields removed from the contract', { is_billing_admin: false }, {}],
  ['users referred to by id instead of email', { subscribed: { 'a@b.c': ['x'] } }, { subscribed: { 8: ['x'] } }],
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
  ['an id of a different object', { user_id: 10 }, { user_id: 9 }, 'user_id'],
  ['milliseconds instead of seconds', { timestamp: 1_795_156_044 }, { timestamp: 1_795_156_044_000 }, 'timestamp'],
  ['a plain number with a different value', { role: 400 }, { role: 600 }, 'role'],
  ['another text', { msg: 'no' }, { msg: 'yes' }, 'msg'],
  ['another type', { value: null }, { value: 0 }, 'value'],
  ['a missing field', { a: { result: 'x' } }, { a: {} }, 'a.result'],
  ['an unknown field', {}, { surprise: 1 }, 'surprise'],
  ['a missing map key', { reads: { 10: 'x' } }, { reads: {} }, 'reads.10'],
  ['an additional map key', { reads: { 10: 'x' } }, { reads: { 8: 'x', 9: 'y' } }, 'reads.9'],
  ['a list of different length', { topics: ['a'] }, { topics: [] }, 'topics'],
  ['an ordered list in a different order', { flags: ['a', 'b'] }, { flags: ['b', 'a'] }, 'flags.0'],
])('value comparison reports %s', (_, recorded, here, where) => {
  expect(placesOfDifferences(recorded, here)[0]).toBe(where);
});
