import { EMOJI_TYPES } from '@parley/domain/files';
import { variantByKey } from '../wire/request.js';
import { parseEmojiType, presentEmojiType } from './emoji.js';

it.each([
  ['unicode_emoji', 'unicode'],
  ['realm_emoji', 'custom'],
  ['zulip_extra_emoji', 'extra'],
  ['service_extra_emoji', 'extra'],
  ['purple', null],
  ['', null],
  ['constructor', null],
])('parseEmojiType parses %s', (name, type) => expect(parseEmojiType(name)).toBe(type));

it("presentEmoji uses the client's type name for the extra emoji", () => {
  const written = (key: 'standard' | 'zulip') => EMOJI_TYPES.map((type) => presentEmojiType(type, variantByKey(key)));
  expect(written('standard')).toEqual(['unicode_emoji', 'realm_emoji', 'service_extra_emoji']);
  expect(written('zulip')).toEqual(['unicode_emoji', 'realm_emoji', 'zulip_extra_emoji']);
});
