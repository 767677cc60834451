import { spellingsNear, spellingsWithTwoSlips } from './misspellings.js';

describe('spellingsNear', () => {
  it.each([
    ['deploymnt', 'deployment'],
    ['deploymeent', 'deployment'],
    ['deplayment', 'deployment'],
    ['deplyoment', 'deployment'],
    ['eployment', 'deployment'],
    ['пороль', 'пароль'],
    ['διακομιστσ', 'διακομιστησ'],
  ])('corrects %s to %s', (word, meant) => {
    expect(spellingsNear(word)).toContain(meant);
  });

  it.each(['abc', 'x'.repeat(26), 'аbcd', '上海东边', 'v1.2.3', 'fo0bar'])('returns nothing for %s', (word) => {
    expect(spellingsNear(word).size).toBe(0);
  });

  it('omits the word itself', () => {
    expect(spellingsNear('letter')).not.toContain('letter');
  });
});

describe('spellingsWithTwoSlips', () => {
  it('leaves out, doubles or swaps two letters of words with at least eight letters', () => {
    expect(spellingsWithTwoSlips('configuartoin')).toContain('configuration');
    expect(spellingsWithTwoSlips('acomodation')).toContain('accommodation');
    expect(spellingsWithTwoSlips('authentification')).toContain('authentication');
    expect(spellingsWithTwoSlips('fialure').size).toBe(0);
  });
});
