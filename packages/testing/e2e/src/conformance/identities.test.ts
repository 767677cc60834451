import { Identities } from './identities.js';

describe('Identities', () => {
  let ids: Identities;
  beforeEach(() => {
    ids = new Identities();
    ids.learn('user', 10, 8);
  });

  it('maps an id consistently everywhere', () => {
    expect(ids.areSame('user', 10, 8)).toBe(true);
    expect(ids.areSame('user', 10, 9)).toBe(false);
    expect(ids.areSame('user', 11, 8)).toBe(false);
  });

  it('maps ids that are new on both sides to each other', () => {
    expect(ids.areSame('user', 3, 4)).toBe(true);
    expect(ids.areSame('user', 3, 5)).toBe(false);
  });

  it('separates ids by kind', () => {
    expect(ids.areSame('channel', 10, 9)).toBe(true);
  });

  it('accepts equal invented ids without an object', () => {
    expect(ids.areSame('user', 99_999_999, 99_999_999)).toBe(true);
    expect(ids.areSame('message', -1, -1)).toBe(true);
    expect(ids.areSame('message', 10 ** 16, 5)).toBe(false);
  });

  it('matches ids of a list in any order', () => {
    expect(ids.areSameSets('user', [3, 10], [8, 4])).toBe(true);
    expect(ids.areSame('user', 3, 4)).toBe(true);
    expect(ids.areSameSets('user', [10, 3], [4, 5])).toBe(false);
  });

  it('matches ids and times inside texts', () => {
    expect(ids.areSameTexts('@**Iago|10** at 1795156044', '@**Iago|8** at 1800000000')).toBe(true);
    expect(ids.areSameTexts('@**Iago|10**', '@**Iago|9**')).toBe(false);
    expect(ids.areSameTexts('10 apples', '8 pears')).toBe(false);
  });
});
