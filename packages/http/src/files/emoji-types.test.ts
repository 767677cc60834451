import { EMOJI_TYPES } from '@parley/domain/files';
import { variantByKey } from '../kernel/request.js';
import { parseEmojiType, presentEmojiType } from './emoji.js';

it.each([
  ['unicode_emoji', 'unicode'],
  ['realm_emoji', 'custom'],
  ['zulip_extra_emoji', 'extra'],
  ['service_extra_emoji', 'extra'],
  ['purple', null],
  ['', null],
  ['constructor', null],
])('parses the emoji type %s', (name, type) => expect(parseEmojiType(name)).toBe(type));

it('presents the extra emoji type under the name that the client uses', () => {
  const written = (key: 'standard' | 'zulip') => EMOJI_TYPES.map((type) => presentEmojiType(type, variantByKey(key)));
  expect(written('standard')).toEqual(['unicode_emoji', 'realm_emoji', 'service_extra_emoji']);
  expect(written('zulip')).toEqual(['unicode_emoji', 'realm_emoji', 'zulip_extra_emoji']);
});
