import { emojiNamed } from './foreign-emoji.js';

describe('emojiNamed', () => {
  it.each([
    ['thumbsup', '👍'],
    ['slight_smile', '🙂'],
    ['rofl', '🤣'],
    ['metal', '🤘'],
    ['thumbsup_tone3', '👍🏽'],
    ['flag_de', '🇩🇪'],
    ['party_parrot', null],
    ['constructor', null],
    ['', null],
  ])('finds the emoji named %s', (name, emoji) => {
    expect(emojiNamed(name)).toBe(emoji);
  });
});
