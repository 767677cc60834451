import { channelId } from '@parley/testkit';
import { MAX_CHANNEL_NAME_LENGTH, normalizeChannelDescription, parseChannelName, weeklyTraffic } from './channel.js';
import { normalizeColor, pickColors } from './subscriptions.js';

describe('parseChannelName', () => {
  it.each([
    [' general ', 'general'],
    ['😀'.repeat(MAX_CHANNEL_NAME_LENGTH), '😀'.repeat(MAX_CHANNEL_NAME_LENGTH)],
    ['✔ done', '✔ done'],
  ])('normalizes the channel name %j to %j', (raw, name) => expect(parseChannelName(raw)).toBe(name));

  it.each([
    ['\t ', "Channel name can't be empty."],
    ['😀'.repeat(61), 'Channel name too long (limit: 60 characters).'],
    [`${'\u0001'.repeat(61)}`, 'Channel name too long (limit: 60 characters).'],
    ['a\nb', 'Invalid character in channel name, at position 2.'],
    ['😀\ufffe', 'Invalid character in channel name, at position 2.'],
    ['ab\ud800', 'Invalid character in channel name, at position 3.'],
  ])('rejects the channel name %j', (raw, message) => expect(() => parseChannelName(raw)).toThrow(message));
});

it('normalizeChannelDescription converts a description to one line', () =>
  expect(normalizeChannelDescription('a\nb\n')).toBe('a b '));

describe('weeklyTraffic', () => {
  it.each`
    messages | ageDays | traffic
    ${100}   | ${6}    | ${null}
    ${0}     | ${7}    | ${0}
    ${10}    | ${7}    | ${10}
    ${10}    | ${8}    | ${8}
    ${30}    | ${27}   | ${7}
    ${464}   | ${28}   | ${120}
    ${464}   | ${1000} | ${120}
    ${3}     | ${28}   | ${1}
    ${0}     | ${28}   | ${0}
    ${40400} | ${28}   | ${10000}
  `('returns for $messages messages in a channel of $ageDays days: $traffic', ({ messages, ageDays, traffic }) => {
    expect(weeklyTraffic(messages, ageDays)).toBe(traffic);
  });
});

describe('pickColors', () => {
  const ids = (count: number) => Array.from({ length: count }, (_, index) => channelId(index + 1));

  it('follows the palette and then derives a color from the channel number', () => {
    const colors = pickColors([...ids(25)].reverse(), new Map(), []);
    expect(colors.get(channelId(1))).toBe('#76ce90');
    expect(colors.get(channelId(24))).toBe('#a47462');
    expect(new Set(colors.values()).size).toBe(24);
    expect(colors.get(channelId(25))).toBe('#fae589');
  });

  it('skips colors that are in use or requested', () => {
    const requested = new Map([[channelId(2), '#fae589']]);
    const colors = pickColors(ids(3), requested, ['#76ce90', '#000000']);
    expect([...colors.values()]).toEqual(['#a6c7e5', '#fae589', '#e79ab5']);
  });

  it.each([
    ['#abc', '#aabbcc'],
    ['#ABCDEF', '#abcdef'],
  ])('normalizes the color %s to %s', (color, stored) => expect(normalizeColor(color)).toBe(stored));
});
