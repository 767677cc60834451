import { compareShapes } from './compare-shapes.js';
import type { Json } from './json.js';

const placesOfDifferences = (recorded: Json, here: Json) => compareShapes(recorded, here).map(({ where }) => where);

it.each<[string, Json, Json]>([
  ['other values', { name: 'a', id: 1 }, { name: 'b', id: 2 }],
  ['lists of different lengths', { users: [{ id: 1 }] }, { users: [{ id: 2 }, { id: 3 }] }],
  ['an empty list', { users: [{ id: 1 }] }, { users: [] }],
  ['maps with different keys', { users: { 1: { id: 1 } } }, { users: { 7: { id: 2 } } }],
  ['null where the recording has a value', { id: 1 }, { id: null }],
  ['whole numbers where the recording has fractions', { time: 1.5 }, { time: 2 }],
  ['a missing member that only some recorded elements have', [{ id: 1, bot: 2 }, { id: 2 }], [{ id: 3 }]],
])('shape comparison accepts %s', (_, recorded, here) => {
  expect(placesOfDifferences(recorded, here)).toEqual([]);
});

it.each<[string, Json, Json, string]>([
  ['another type', { id: 1 }, { id: '1' }, 'body.id'],
  ['a missing member that every recorded element has', [{ id: 1, odd: 2 }], [{ id: 3 }], 'body[].odd'],
  ['an unknown member', { id: 1 }, { id: 1, surprise: 1 }, 'body.surprise'],
  ['a different type inside a map', { users: { 1: { id: 1 } } }, { users: { 7: { id: 'x' } } }, 'body.users.*.id'],
])('shape comparison reports %s', (_, recorded, here, where) => {
  expect(placesOfDifferences(recorded, here)).toEqual([where]);
});
