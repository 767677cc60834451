import { initialsFor } from './initials.js';

describe('initials', () => {
  it.each([
    ['Desdemona', 'D'],
    ['King Hamlet', 'KH'],
    ['Maria da Silva', 'MS'],
    ['אבנר בן־שלום', 'אב'],
    ['  Zoe  ', 'Z'],
    ['Report bot (old)', 'Ro'],
    ['🎉', '?'],
    ['', '?'],
  ])('consist of the first letters of the first and last word: %j → %j', (name, letters) => {
    expect(initialsFor(null, name)?.letters).toBe(letters);
  });

  it.each([
    ['https://chat.example.com/user_avatars/1/27.png?version=1', true],
    ['/user_avatars/1/27-medium.png?version=1', true],
    ['/user_avatars/1/unknown.png', true],
    ['/user_avatars/1/0123456789abcdef0123456789abcdef.png?version=2', false],
    ['https://secure.gravatar.com/avatar/0123?d=identicon', false],
  ])('replace only pictures drawn by the server: %s → %s', (url, isReplaced) => {
    expect(initialsFor(url, 'Zoe') !== null).toBe(isReplaced);
  });

  it('have a stable hue for each name', () => {
    const hueOf = (name: string) => initialsFor(null, name)!.hue;
    expect(hueOf('Desdemona')).toBe(hueOf('Desdemona'));
    expect(hueOf('Desdemona')).not.toBe(hueOf('Othello'));
  });
});
