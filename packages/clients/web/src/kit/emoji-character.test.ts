import { characterOf } from './emoji-character.js';
import { withTone } from './emoji-tone.js';

test.each([
  ['1f389', '🎉'],
  ['2764', '❤️'],
  ['0031-20e3', '1️⃣'],
  ['1f3f3-200d-1f308', '🏳️‍🌈'],
  ['1f575-200d-2640', '🕵️‍♀️'],
  ['1f575-1f3fd-200d-2640', '🕵🏽‍♀️'],
  ['1f1e9-1f1ea', '🇩🇪'],
  ['1f469-200d-2764-200d-1f468', '👩‍❤️‍👨'],
  ['1f3f4-e0067-e0062-e0065-e006e-e0067-e007f', '🏴󠁧󠁢󠁥󠁮󠁧󠁿'],
  ['zulip', ''],
  ['110000', ''],
])('builds the fully qualified emoji of %s', (code, character) => {
  expect(characterOf(code)).toBe(character);
});

test.each([
  ['1f44d', '👍🏽'],
  ['261d', '☝🏽'],
  ['1f3c3-200d-2640', '🏃🏽‍♀️'],
  ['1f91d', '🤝🏽'],
  ['1f9d1-200d-1f91d-200d-1f9d1', '🧑🏽‍🤝‍🧑🏽'],
])('gives a skin tone to all people of %s', (code, character) => {
  expect(characterOf(withTone(code, '1f3fd'))).toBe(character);
});
