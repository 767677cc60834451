import { channelAddress } from './channel.js';

describe('channelAddress', () => {
  it.each([
    ['general', 'general.abc.show-sender'],
    ['Team Lunch!?today', 'team-lunch-today.abc.show-sender'],
    ['Café', 'cafe.abc.show-sender'],
    ['läufer_1', 'laufer_1.abc.show-sender'],
    ['日本', 'abc.show-sender'],
    ['what?', 'abc.show-sender'],
    ['straße', 'abc.show-sender'],
    ['$&', 'abc.show-sender'],
  ])('converts the channel name %s to the address part %s', (name, local) => {
    expect(channelAddress('mail+%s@example.com', { name }, 'abc')).toBe(`mail+${local}@example.com`);
  });
});
