import { meantFilters, unknownFilter } from './typed-filters.js';

/** A Wednesday. */
const NOW = new Date(2026, 6, 15, 12);

it.each([
  ['in:design logo', 'channel:design logo'],
  ['-in:#design', '-channel:design'],
  ['in:"site reports"', 'channel:"site reports"'],
  ['in:home', 'in:home'],
  ['channel:#design', 'channel:design'],
  ['has:file -has:Links', 'has:attachment -has:link'],
  ['during:yesterday', 'during:2026-07-14'],
  ['on:today', 'during:2026-07-15'],
  ['before:monday', 'before:2026-07-13'],
  ['after:wednesday', 'after:2026-07-08'],
  ['during:gestern', 'during:2026-07-14'],
  ['before:montag', 'before:2026-07-13'],
  ['before:2026-07', 'before:2026-07'],
  ['from:@tom', 'from:tom'],
  ['dm:@tom,@lena', 'dm:tom,lena'],
  ['to:me', 'is:dm -from:me'],
  ['-to:me', '-is:dm'],
  ['to:@tom', 'dm:tom'],
  ['see https://example.com/in:design "in:design"', 'see https://example.com/in:design "in:design"'],
])('reads the search %j as %j', (typed, meant) => {
  expect(meantFilters(typed, 'de', NOW)).toBe(meant);
});

it.each([
  ['flavor:sweet tea', 'flavor:sweet'],
  ['is:lost', 'is:lost'],
  ['tea -has:cake', '-has:cake'],
  ['during:easter', 'during:easter'],
  ['before:2026-13-40', 'before:2026-13-40'],
  ['see https://example.com', null],
  ['"see flavor:sweet" tea', null],
  ['"flavor:sweet" from:iago is:unread has:link during:2026-07-14 topic:"a b" in:home', null],
])('finds the unknown filter of the search %j', (typed, unknown) => {
  expect(unknownFilter(typed)).toBe(unknown);
});
