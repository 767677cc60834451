import { RealmLinkifiers } from './realm-linkifiers.js';

/** How many matches are found in a text, and how many characters are looked at for it. */
function searchAll(patterns: readonly string[], text: string): { readonly matches: number; readonly read: number } {
  const all = new RealmLinkifiers(patterns.map((pattern) => ({ pattern, urlTemplate: 'https://example.com/{id}' })));
  let matches = 0;
  for (const search of all.searches(text)) matches += search(text).length;
  return { matches, read: all.charactersRead };
}

const projects = (count: number) => Array.from({ length: count }, (_, n) => `PRJ${n}-(?P<id>[0-9]{2,7})`);
const repeated = (part: string) => part.repeat(Math.ceil(10_000 / part.length)).slice(0, 10_000);

describe('what linkifiers cost', () => {
  it('does not grow with those that a text has nothing of', () => {
    const text = repeated('lorem ipsum PRJ dolor 17 sit-amet ');
    expect(searchAll(projects(1000), text)).toEqual({ matches: 0, read: text.length });
    expect(searchAll(projects(10), text)).toEqual({ matches: 0, read: text.length });
  });

  it('is some ten times the text where hundreds of them match, all of which are found', () => {
    const text = Array.from({ length: 700 }, (_, n) => `PRJ${n}-${n + 10}`).join(' ');
    const { matches, read } = searchAll(projects(1000), text);
    expect(matches).toBe(700);
    expect(read).toBeLessThan(35 * text.length);
  });

  it('is one look at the text for a pattern that has no literal', () => {
    const text = repeated('AB12 and CD34, ');
    const { matches, read } = searchAll(['(?P<id>[A-Z]{2}[0-9]{2})'], text);
    expect(matches).toBe(1333);
    expect(read).toBeLessThan(3 * text.length);
  });

  it('counts what is read of a match that comes to nothing', () => {
    const text = repeated('a');
    const [short, long] = [searchAll(['(?P<id>[a-z]{1,2}[0-9])'], text), searchAll(['(?P<id>[a-z]+[0-9])'], text)];
    expect([short.matches, long.matches]).toEqual([0, 0]);
    expect(long.read - short.read).toBe(text.length - 2);
  });

  it('finds all that begin with the same characters', () => {
    const text = 'PROJECTS-2026-17 PROJECTS-2026-A PROJECTS-2027-B';
    const patterns = ['PROJECTS-2026-(?P<id>[0-9]+)', 'PROJECTS-2026-(?P<id>[A-Z]+)', 'PROJECTS-2027-(?P<id>[A-Z]+)'];
    expect(searchAll(patterns, text).matches).toBe(3);
  });

  it('ends where a list of patterns would look at the text again and again, at the same place each time', () => {
    const patterns = Array.from({ length: 1000 }, (_, n) => `(?P<id>[a-z]{${(n % 900) + 2},}[0-9])`);
    const text = repeated(`${'a '.repeat(20)}aa1 `);
    const first = searchAll(patterns, text);
    expect(first.read).toBeLessThan(1_500_000);
    expect(first.matches).toBeGreaterThan(0);
    expect(searchAll(patterns, text)).toEqual(first);
  });

  it('is the same for patterns that hold their literal in the middle', () => {
    const text = repeated('abc@17x text ');
    const patterns = Array.from({ length: 1000 }, (_, n) => `(?P<id>[a-z]+)@${n}x`);
    const { matches, read } = searchAll(patterns, text);
    expect(matches).toBe(769);
    expect(read).toBeLessThan(2 * text.length);
  });

  it('ends where a message of thousands of lines has hundreds of patterns that need an engine', () => {
    const patterns = Array.from({ length: 500 }, (_, n) => `(?:(?P<id>a${n})|b${n})`);
    const all = new RealmLinkifiers(patterns.map((pattern) => ({ pattern, urlTemplate: 'https://example.com/{id}' })));
    let searches = 0;
    for (let line = 0; line < 1000; line++) {
      for (const search of all.searches('nothing here')) {
        search('nothing here');
        searches++;
      }
    }
    expect(searches).toBeLessThan(11_000);
  });
});
