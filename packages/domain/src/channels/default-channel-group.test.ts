import { channelId } from '@parley/testkit';
import {
  MAX_CHANNELS_OF_A_DEFAULT_GROUP,
  parseDefaultGroupName,
  withChannels,
  withoutChannels,
} from './default-channels.js';

const channel = (id: number, more: { isDefault?: boolean } = {}) => ({
  id: channelId(id),
  name: `c${id}`,
  isDefault: false,
  ...more,
});
const group = (...ids: number[]) => ({ name: 'g', channelIds: ids.map(channelId) });
const refusal = (code: string, message: string) => expect.objectContaining({ code, message });

describe('default channel group (channels §4.14)', () => {
  it('trims its name', () => expect(parseDefaultGroupName(' g ')).toBe('g'));

  it.each([
    [' ', "Invalid default channel group name ' '"],
    ['a\u0000', "Invalid default channel group name 'a\u0000'"],
    ['é'.repeat(61), 'Default channel group name too long (limit: 60 characters)'],
  ])('rejects the name %j', (name, message) => {
    expect(() => parseDefaultGroupName(name)).toThrow(refusal('INVALID_DEFAULT_CHANNEL_GROUP_NAME', message));
  });

  it('adds and removes channels in ascending order', () => {
    expect(withChannels(group(5), [channel(7), channel(2)])).toEqual(group(2, 5, 7));
    expect(withoutChannels(group(2, 5, 7), [channel(7), channel(2)])).toEqual(group(5));
  });

  it('rejects default channels, duplicates and removal of absent channels', () => {
    expect(() => withChannels(group(), [channel(1, { isDefault: true })])).toThrow(
      refusal('IS_DEFAULT_CHANNEL', "'c1' is a default channel and cannot be added to 'g'"),
    );
    expect(() => withChannels(group(1), [channel(2), channel(1)])).toThrow(
      refusal('CHANNEL_IN_DEFAULT_GROUP', "Channel 'c1' is already present in default channel group 'g'"),
    );
    expect(() => withoutChannels(group(1), [channel(1), channel(2)])).toThrow(
      refusal('CHANNEL_NOT_IN_DEFAULT_GROUP', "Channel 'c2' is not present in default channel group 'g'"),
    );
  });

  it('holds at most a thousand channels', () => {
    const many = Array.from({ length: MAX_CHANNELS_OF_A_DEFAULT_GROUP }, (_, n) => channel(n + 1));
    expect(withChannels(group(), many).channelIds).toHaveLength(1000);
    expect(() => withChannels(withChannels(group(), many), [channel(5000)])).toThrow(
      expect.objectContaining({ code: 'TOO_MANY_CHANNELS_IN_DEFAULT_GROUP' }),
    );
  });
});
