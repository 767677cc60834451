import { type EmojiCatalogue, findEmoji, getEmoji, isEmojiCode, requireChoosable } from './emoji.js';

const catalogue: EmojiCatalogue = {
  unicode: {
    namesByCode: new Map([
      ['1f642', ['smile']],
      ['1f44d', ['+1', 'thumbs_up']],
    ]),
    codesByName: new Map([
      ['smile', '1f642'],
      ['+1', '1f44d'],
      ['thumbs_up', '1f44d'],
    ]),
  },
  custom: [
    { id: 1, name: 'tick', isDeactivated: true },
    { id: 2, name: 'tick', isDeactivated: false },
    { id: 3, name: 'smile', isDeactivated: true },
  ],
};
const shadowing: EmojiCatalogue = {
  ...catalogue,
  custom: [
    { id: 4, name: '+1', isDeactivated: false },
    { id: 5, name: 'zulip', isDeactivated: false },
  ],
};

describe('findEmoji', () => {
  it.each([
    ['tick', { type: 'custom', code: '2', name: 'tick' }],
    ['zulip', { type: 'extra', code: 'zulip', name: 'zulip' }],
    ['thumbs_up', { type: 'unicode', code: '1f44d', name: 'thumbs_up' }],
    // A deactivated custom emoji does not shadow other emoji.
    ['smile', { type: 'unicode', code: '1f642', name: 'smile' }],
  ])('resolves the emoji %s', (name, emoji) => expect(getEmoji(catalogue, name)).toEqual(emoji));

  it('prefers a custom emoji among several with the same name', () => {
    expect(getEmoji(shadowing, '+1')).toEqual({ type: 'custom', code: '4', name: '+1' });
    expect(getEmoji(shadowing, 'zulip')).toEqual({ type: 'custom', code: '5', name: 'zulip' });
  });

  it('finds nothing for an unknown name', () => {
    expect(findEmoji(catalogue, '')).toBeNull();
    expect(() => getEmoji(catalogue, 'nothing')).toThrow("Emoji 'nothing' does not exist");
  });
});

it.each([
  ['unicode', '1f44d', true],
  ['unicode', '+1', false],
  ['custom', '1', true],
  ['custom', '01', false],
  ['custom', '9', false],
  ['extra', 'zulip', true],
  ['extra', '1f44d', false],
] as const)('isEmojiCode decides if type %s has code %s: %s', (type, code, isKnown) =>
  expect(isEmojiCode(catalogue, { type, code })).toBe(isKnown),
);

describe('requireChoosable', () => {
  it.each([
    ['unicode', '1f44d', 'thumbs_up'],
    ['custom', '2', 'tick'],
    ['extra', 'zulip', 'zulip'],
  ] as const)('accepts %s %s by the name %s', (type, code, name) =>
    expect(() => requireChoosable(catalogue, { type, code, name })).not.toThrow(),
  );

  it.each([
    ['custom', '9', 'tick', 'Invalid custom emoji.'],
    ['custom', '2', 'other', 'Invalid custom emoji name.'],
    ['custom', '1', 'other', 'Invalid custom emoji name.'],
    ['custom', '1', 'tick', 'This custom emoji has been deactivated.'],
    ['extra', 'other', 'zulip', 'Invalid emoji code.'],
    ['extra', 'zulip', 'other', 'Invalid emoji name.'],
    ['unicode', 'ffff', 'smile', 'Invalid emoji code.'],
    ['unicode', '1f44d', 'smile', 'Invalid emoji name.'],
    ['unicode', '1f44d', 'nothing', 'Invalid emoji name.'],
  ] as const)('rejects %s %s by the name %s', (type, code, name, message) =>
    expect(() => requireChoosable(catalogue, { type, code, name })).toThrow(message),
  );
});
