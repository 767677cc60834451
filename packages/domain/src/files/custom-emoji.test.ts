import { MAX_CUSTOM_EMOJI, parseEmojiName, requireRoomForEmoji } from './custom-emoji.js';

describe('parseEmojiName', () => {
  it.each([
    ['tick', 'tick'],
    ['  green tick ', 'green_tick'],
    ['a-b_c 9', 'a-b_c_9'],
    ['_x', '_x'],
  ])('parses the emoji name %j as %s', (typed, name) => expect(parseEmojiName(typed)).toBe(name));

  it.each([
    ['', 'EMOJI_NAME_MISSING'],
    [' \n', 'EMOJI_NAME_MISSING'],
    ['Tick', 'INVALID_EMOJI_NAME'],
    ['tick!', 'INVALID_EMOJI_NAME'],
    ['tíck', 'INVALID_EMOJI_NAME'],
    ['a/b', 'INVALID_EMOJI_NAME'],
    ['tick_', 'INVALID_EMOJI_NAME'],
    ['tick-', 'INVALID_EMOJI_NAME'],
    ['a\nb', 'INVALID_EMOJI_NAME'],
  ])('rejects the emoji name %j: %s', (typed, code) =>
    expect(() => parseEmojiName(typed)).toThrow(expect.objectContaining({ code })),
  );
});

it('requireRoomForEmoji rejects more emoji than the maximum', () => {
  expect(() => requireRoomForEmoji(MAX_CUSTOM_EMOJI - 1)).not.toThrow();
  expect(() => requireRoomForEmoji(MAX_CUSTOM_EMOJI)).toThrow('Too many custom emoji (limit: 5000).');
});
