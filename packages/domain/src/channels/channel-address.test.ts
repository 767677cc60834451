import { channelAddress } from './channel.js';

describe('the mail address of a channel', () => {
  it.each([
    ['general', 'general.abc.show-sender'],
    ['Team Lunch!?today', 'team-lunch-today.abc.show-sender'],
    ['Café', 'cafe.abc.show-sender'],
    ['läufer_1', 'laufer_1.abc.show-sender'],
    ['日本', 'abc.show-sender'],
    ['what?', 'abc.show-sender'],
    ['straße', 'abc.show-sender'],
    ['$&', 'abc.show-sender'],
  ])('%s: %s', (name, local) => {
    expect(channelAddress('mail+%s@example.com', { name }, 'abc')).toBe(`mail+${local}@example.com`);
  });
});
