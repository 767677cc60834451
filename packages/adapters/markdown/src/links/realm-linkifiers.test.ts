import { RealmLinkifiers } from './realm-linkifiers.js';

/** Returns the number of matches in a text and of characters read. */
function searchAll(patterns: readonly string[], text: string): { readonly matches: number; readonly read: number } {
  const all = new RealmLinkifiers(patterns.map((pattern) => ({ pattern, urlTemplate: 'https://example.com/{id}' })));
  let matches = 0;
  for (const search of all.searches(text)) matches += search(text).length;
  return { matches, read: all.charactersRead };
}

const projects = (count: number) => Array.from({ length: count }, (_, n) => `PRJ${n}-(?P<id>[0-9]{2,7})`);
const repeated = (part: string) => part.repeat(Math.ceil(10_000 / part.length)).slice(0, 10_000);

describe('linkifier cost', () => {
  it('does not grow with linkifiers that do not occur in the text', () => {
    const text = repeated('lorem ipsum PRJ dolor 17 sit-amet ');
    expect(searchAll(projects(1000), text)).toEqual({ matches: 0, read: text.length });
    expect(searchAll(projects(10), text)).toEqual({ matches: 0, read: text.length });
  });

  it('stays below a small multiple of the text for hundreds of matching linkifiers', () => {
    const text = Array.from({ length: 700 }, (_, n) => `PRJ${n}-${n + 10}`).join(' ');
    const { matches, read } = searchAll(projects(1000), text);
    expect(matches).toBe(700);
    expect(read).toBeLessThan(35 * text.length);
  });

  it('amounts to one scan of the text for a pattern without a literal', () => {
    const text = repeated('AB12 and CD34, ');
    const { matches, read } = searchAll(['(?P<id>[A-Z]{2}[0-9]{2})'], text);
    expect(matches).toBe(1333);
    expect(read).toBeLessThan(3 * text.length);
  });

  it('includes characters read by failed matches', () => {
    const text = repeated('a');
    const [short, long] = [searchAll(['(?P<id>[a-z]{1,2}[0-9])'], text), searchAll(['(?P<id>[a-z]+[0-9])'], text)];
    expect([short.matches, long.matches]).toEqual([0, 0]);
    expect(long.read - short.read).toBe(text.length - 2);
  });

  it('covers all linkifiers with a common prefix', () => {
    const text = 'PROJECTS-2026-17 PROJECTS-2026-A PROJECTS-2027-B';
    const patterns = ['PROJECTS-2026-(?P<id>[0-9]+)', 'PROJECTS-2026-(?P<id>[A-Z]+)', 'PROJECTS-2027-(?P<id>[A-Z]+)'];
    expect(searchAll(patterns, text).matches).toBe(3);
  });

  it('stays limited if many patterns scan the text from the same positions', () => {
    const patterns = Array.from({ length: 1000 }, (_, n) => `(?P<id>[a-z]{${(n % 900) + 2},}[0-9])`);
    const text = repeated(`${'a '.repeat(20)}aa1 `);
    const first = searchAll(patterns, text);
    expect(first.read).toBeLessThan(1_500_000);
    expect(first.matches).toBeGreaterThan(0);
    expect(searchAll(patterns, text)).toEqual(first);
  });

  it('stays limited for patterns with a literal in the middle', () => {
    const text = repeated('abc@17x text ');
    const patterns = Array.from({ length: 1000 }, (_, n) => `(?P<id>[a-z]+)@${n}x`);
    const { matches, read } = searchAll(patterns, text);
    expect(matches).toBe(769);
    expect(read).toBeLessThan(2 * text.length);
  });

  it('stays limited for thousands of lines and hundreds of engine patterns', () => {
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
