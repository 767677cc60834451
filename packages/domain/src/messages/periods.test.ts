import { parsePeriod } from './periods.js';

const at = (text: string): number => Date.parse(text) / 1000;

describe('parsePeriod', () => {
  it.each([
    ['2026', 'UTC', '2026-01-01T00:00:00Z', '2027-01-01T00:00:00Z'],
    ['2026-12', 'UTC', '2026-12-01T00:00:00Z', '2027-01-01T00:00:00Z'],
    [' 2024-02-29 ', 'UTC', '2024-02-29T00:00:00Z', '2024-03-01T00:00:00Z'],
    ['2026-11-25', 'Europe/Berlin', '2026-11-24T23:00:00Z', '2026-11-25T23:00:00Z'],
    ['2026-07-04', 'America/New_York', '2026-07-04T04:00:00Z', '2026-07-05T04:00:00Z'],
    // Clocks are set forward and back on these days.
    ['2026-03-29', 'Europe/Berlin', '2026-03-28T23:00:00Z', '2026-03-29T22:00:00Z'],
    ['2026-10-25', 'Europe/Berlin', '2026-10-24T22:00:00Z', '2026-10-25T23:00:00Z'],
    ['2026-11', 'Pacific/Auckland', '2026-10-31T11:00:00Z', '2026-11-30T11:00:00Z'],
  ])('parses %j in %s', (text, zone, start, end) => {
    expect(parsePeriod(text, zone)).toEqual({ start: at(start), end: at(end) });
  });

  it.each([
    '',
    'today',
    '26',
    '2026-13',
    '2026-00',
    '2026-02-30',
    '2026-1-1',
    '2026-01-00',
    '1969',
    '2026-01-01T10:00',
  ])('rejects %j', (text) => expect(parsePeriod(text, 'UTC')).toBeNull());
});
