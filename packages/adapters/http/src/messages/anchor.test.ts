import { HttpRefusal } from '../wire/reply.js';
import { parseAnchor, parseAnchorDate } from './narrow-param.js';

const attempt = (parse: () => unknown): unknown => {
  try {
    return parse();
  } catch (error) {
    if (error instanceof HttpRefusal) return `${error.code}: ${error.message}`;
    throw error;
  }
};

describe('parseAnchor', () => {
  it.each([
    ['7', { kind: 'id', id: 7 }],
    ['-1', { kind: 'id', id: -1 }],
    ['99999999999999999', { kind: 'id', id: 1e17 }],
    ['oldest', { kind: 'oldest' }],
    ['newest', { kind: 'newest' }],
    ['first_unread', { kind: 'firstUnread' }],
    ['abc', 'BAD_REQUEST: Invalid anchor'],
    ['1.5', 'BAD_REQUEST: Invalid anchor'],
    ['', 'BAD_REQUEST: Invalid anchor'],
  ])('parses %j', (text, expected) => {
    expect(attempt(() => parseAnchor(text))).toEqual(expected);
  });

  const noon = Date.UTC(2026, 1, 28, 12) / 1000;
  it.each([
    ['2026-02-28', noon - 12 * 3600],
    ['2026-02-28T12:00', noon],
    ['2026-02-28T12:00:00', noon],
    ['2026-02-28 12:00:00', noon],
    ['2026-02-28T12:00:00Z', noon],
    ['2026-02-28T12:00:00.000Z', noon],
    ['2026-02-28T11:59:59.5Z', noon],
    ['2026-02-28T14:00:00+02:00', noon],
    ['2026-02-28T14:00+02', noon],
    ['2026-02-28T14:00+0200', noon],
    [undefined, "BAD_REQUEST: Missing 'anchor_date' argument."],
    ['', 'BAD_REQUEST: Invalid anchor_date'],
    ['yesterday', 'BAD_REQUEST: Invalid anchor_date'],
    ['2026-02-30', 'BAD_REQUEST: Invalid anchor_date'],
    ['2026-13-01', 'BAD_REQUEST: Invalid anchor_date'],
    ['2026-02-28T25:00', 'BAD_REQUEST: Invalid anchor_date'],
  ])('parses the date %j', (text, expected) => {
    expect(attempt(() => parseAnchorDate(text))).toEqual(expected);
  });
});
