import { parse } from '../params/params.js';
import { HttpRefusal } from '../wire/reply.js';
import { Parameters } from '../wire/request.js';
import { ListUsersDto } from './users.js';

function userIds(text: string): unknown {
  try {
    return parse(ListUsersDto, {}, new Parameters(new Map([['user_ids', text]]))).dto.user_ids;
  } catch (error) {
    if (error instanceof HttpRefusal) return error.message;
    throw error;
  }
}

describe('ListUsersDto', () => {
  it.each([
    ['[7,8]', [7, 8]],
    ['[]', []],
    ['7,8', [7, 8]],
    [' 7 , 8 ', [7, 8]],
    ['7', [7]],
  ])('accepts %j', (text, ids) => {
    expect(userIds(text)).toEqual(ids);
  });

  it.each([
    ['', 'user_ids is not valid JSON'],
    ['7,x', 'user_ids is not valid JSON'],
    ['7,', 'user_ids is not valid JSON'],
    ['-7', 'user_ids is not a list'],
    ['["x"]', 'user_ids[0] is not an integer'],
  ])('rejects %j', (text, message) => {
    expect(userIds(text)).toBe(message);
  });

  it('has the same maximum in the older format', () => {
    const ones = (count: number) => Array(count).fill(1).join();
    expect(userIds(ones(10_000))).toHaveLength(10_000);
    for (const text of [ones(10_001), `[${ones(10_001)}]`]) {
      expect(userIds(text)).toBe('user_ids is too long (limit: 10000 items)');
    }
    for (const text of [ones(2_000_000), `[${ones(2_000_000)}]`]) {
      expect(userIds(text)).toBe('user_ids is too long (limit: 251002 characters)');
    }
  });
});
