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
  ])('of %s contain %s', (word, meant) => {
    expect(spellingsNear(word)).toContain(meant);
  });

  it.each(['abc', 'x'.repeat(26), 'аbcd', '上海东边', 'v1.2.3', 'fo0bar'])('of %s are empty', (word) => {
    expect(spellingsNear(word).size).toBe(0);
  });

  it('do not contain the word', () => {
    expect(spellingsNear('letter')).not.toContain('letter');
  });
});

describe('spellingsWithTwoSlips', () => {
  it('leave out, double or swap two letters of words with at least eight letters', () => {
    expect(spellingsWithTwoSlips('configuartoin')).toContain('configuration');
    expect(spellingsWithTwoSlips('acomodation')).toContain('accommodation');
    expect(spellingsWithTwoSlips('authentification')).toContain('authentication');
    expect(spellingsWithTwoSlips('fialure').size).toBe(0);
  });
});
