import { withPlaceholders } from './placeholders.js';

const run = { url: 'http://localhost:9991', word: 'bcdfgh', secrets: new Map([['k'.repeat(32), '<key:hamlet>']]) };

it.each([
  ['http://localhost:9991/x', '<base>/x'],
  ['user8@localhost:9991', 'user8@<host>'],
  ['o-bcdfgh-pub', 'o-<run>-pub'],
  [`key ${'k'.repeat(32)}`, 'key <key:hamlet>'],
  ['a.zulipdev.com:9991', 'a.<domain>'],
  ['0a1b2c3d-0000-4000-8000-00000000000f', '<uuid>'],
  ['/user_uploads/2/ab/cdef/cat.png', '/user_uploads/2/<random>/cat.png'],
  ['/join/abcdefghij234567abcdefgh/', '/join/<token>/'],
])('placeholders replace values specific to one run in %s', (text, expected) => {
  expect(withPlaceholders({ text }, run)).toEqual({ text: expected });
});

it('placeholders replace API keys everywhere', () => {
  expect(withPlaceholders({ api_key: 'Z'.repeat(32) }, run)).toEqual({ api_key: '<api_key>' });
});
