import { Identities } from './identities.js';

describe('ids', () => {
  let ids: Identities;
  beforeEach(() => {
    ids = new Identities();
    ids.learn('user', 10, 8);
  });

  it('stand for the same thing wherever they turn up', () => {
    expect(ids.areSame('user', 10, 8)).toBe(true);
    expect(ids.areSame('user', 10, 9)).toBe(false);
    expect(ids.areSame('user', 11, 8)).toBe(false);
  });

  it('that are new on both sides correspond from then on', () => {
    expect(ids.areSame('user', 3, 4)).toBe(true);
    expect(ids.areSame('user', 3, 5)).toBe(false);
  });

  it('are numbered separately for each kind of thing', () => {
    expect(ids.areSame('channel', 10, 9)).toBe(true);
  });

  it('that are equal and name nothing in a story are the same', () => {
    expect(ids.areSame('user', 99_999_999, 99_999_999)).toBe(true);
    expect(ids.areSame('message', -1, -1)).toBe(true);
    expect(ids.areSame('message', 10 ** 16, 5)).toBe(false);
  });

  it('in a list may come in any order', () => {
    expect(ids.areSameSets('user', [3, 10], [8, 4])).toBe(true);
    expect(ids.areSame('user', 3, 4)).toBe(true);
    expect(ids.areSameSets('user', [10, 3], [4, 5])).toBe(false);
  });

  it('inside texts count as the things they stand for, and times as times', () => {
    expect(ids.areSameTexts('@**Iago|10** at 1795156044', '@**Iago|8** at 1800000000')).toBe(true);
    expect(ids.areSameTexts('@**Iago|10**', '@**Iago|9**')).toBe(false);
    expect(ids.areSameTexts('10 apples', '8 pears')).toBe(false);
  });
});
