import { HttpRefusal } from '../wire/reply.js';
import { addressee, parseAddressee } from './narrow-param.js';

function parse(type: 'channel' | 'direct', to: string | undefined): unknown {
  const value = to === undefined ? undefined : addressee.decode(to);
  const error = addressee.check(value);
  if (error) return error.messageFor('to');
  try {
    return parseAddressee(type, value);
  } catch (error) {
    if (error instanceof HttpRefusal) return error.message;
    throw error;
  }
}

const channelId = (id: number) => ({ kind: 'channelId', id });
const channelName = (name: string) => ({ kind: 'channelName', name });
const userIds = (...ids: number[]) => ({ kind: 'userIds', ids });
const emails = (...realmUrls: string[]) => ({ kind: 'emails', emails: realmUrls });

describe('parseAddressee', () => {
  it.each([
    [undefined, { kind: 'defaultChannel' }],
    ['5', channelId(5)],
    ['"5"', channelName('5')],
    ['Verona', channelName('Verona')],
    ['"Verona"', channelName('Verona')],
    ['[5]', channelId(5)],
    ['["Verona"]', channelName('Verona')],
    ['', channelName('')],
    ['[Verona', channelName('[Verona')],
    ['[]', 'Expected exactly one channel'],
    ['[5,6]', 'Expected exactly one channel'],
    ['5.5', 'Invalid data type for channel'],
    ['null', 'Invalid data type for channel'],
    ['true', 'Invalid data type for channel'],
    ['{"id":5}', 'Invalid data type for channel'],
    ['[null]', 'Invalid data type for channel'],
  ])('parses the channel %j', (to, expected) => {
    expect(parse('channel', to)).toEqual(expected);
  });

  it.each([
    [undefined, userIds()],
    ['[9,10]', userIds(9, 10)],
    ['[9,10,9]', userIds(9, 10)],
    ['[]', userIds()],
    ['["a@x.org","b@x.org"]', emails('a@x.org', 'b@x.org')],
    ['a@x.org, b@x.org,,a@x.org', emails('a@x.org', 'b@x.org')],
    ['"a@x.org,b@x.org"', emails('a@x.org', 'b@x.org')],
    ['', emails()],
    ['9', 'Invalid data type for recipients'],
    ['{}', 'Invalid data type for recipients'],
    ['[null]', 'Invalid data type for recipients'],
    ['[9.5]', 'Invalid data type for recipients'],
    ['[9,"a@x.org"]', 'Recipient lists may contain emails or user IDs, but not both.'],
    ['["a@x.org",9]', 'Recipient lists may contain emails or user IDs, but not both.'],
  ])('parses the direct message recipients %j', (to, expected) => {
    expect(parse('direct', to)).toEqual(expected);
  });

  it('enforces the maximum length of lists and texts', () => {
    const list = (count: number, item: string) => `[${Array(count).fill(item).join()}]`;
    expect(parse('direct', list(10_000, '7'))).toEqual(userIds(7));
    expect(parse('direct', list(10_001, '7'))).toBe('to is too long (limit: 10000 items)');
    expect(parse('direct', list(1000, '"a@x.org"'))).toEqual(emails('a@x.org'));
    expect(parse('direct', list(1001, '"a@x.org"'))).toBe('to is too long (limit: 1000 items)');
    expect(parse('direct', 'a,'.repeat(1001))).toBe('to is too long (limit: 1000 items)');
    expect(parse('channel', 'x'.repeat(10_000))).toEqual(channelName('x'.repeat(10_000)));
    expect(parse('channel', 'x'.repeat(10_001))).toBe('to is too long (limit: 10000 characters)');
    expect(parse('channel', JSON.stringify(['x'.repeat(10_001)]))).toBe('to[0] is too long (limit: 10000 characters)');
    expect(parse('direct', list(1_000_000, '7'))).toBe('to is too long (limit: 1000000 characters)');
  });
});
