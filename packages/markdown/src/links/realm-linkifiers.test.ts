import { workMsOf } from '@parley/testkit/process-usage';
import { Effort } from './linkifier.js';
import { RealmLinkifiers } from './realm-linkifiers.js';

const rulesOf = (patterns: readonly string[]) =>
  patterns.map((pattern) => ({ pattern, urlTemplate: 'https://example.com/{id}' }));

/** Returns how many matches a text has, and how many searches of the engine they took. */
function searchAll(
  patterns: readonly string[],
  text: string,
  effort = new Effort(),
): { readonly matches: number; readonly searches: number } {
  const all = new RealmLinkifiers(rulesOf(patterns), effort);
  let matches = 0;
  for (const search of all.searches(text)) matches += search(text).length;
  return { matches, searches: effort.searches };
}

const projects = (count: number) => Array.from({ length: count }, (_, n) => `PRJ${n}-(?P<id>[0-9]{2,7})`);
const repeated = (part: string) => part.repeat(Math.ceil(10_000 / part.length)).slice(0, 10_000);
const unhurried = () => new Effort(60_000, 60_000);

describe('RealmLinkifiers', () => {
  it('searches a text for no pattern whose literal start the text lacks', () => {
    const text = repeated('lorem ipsum PRJ dolor 17 sit-amet ');
    expect(searchAll(projects(1000), text)).toEqual({ matches: 0, searches: 0 });
  });

  it('searches once for each of hundreds of patterns that match, and finds all of them', () => {
    const text = Array.from({ length: 700 }, (_, n) => `PRJ${n}-${n + 10}`).join(' ');
    const { matches, searches } = searchAll(projects(1000), text, unhurried());
    expect(matches).toBe(700);
    expect(searches).toBe(700);
  });

  it('finds all matches of a pattern without a literal in one search', () => {
    const text = repeated('AB12 and CD34, ');
    expect(searchAll(['(?P<id>[A-Z]{2}[0-9]{2})'], text, unhurried())).toEqual({ matches: 1333, searches: 1 });
  });

  it('finds the matches of all patterns that begin with the same characters', () => {
    const text = 'PROJECTS-2026-17 PROJECTS-2026-A PROJECTS-2027-B';
    const patterns = ['PROJECTS-2026-(?P<id>[0-9]+)', 'PROJECTS-2026-(?P<id>[A-Z]+)', 'PROJECTS-2027-(?P<id>[A-Z]+)'];
    expect(searchAll(patterns, text).matches).toBe(3);
  });

  it('finds the matches of patterns that hold their literal in the middle', () => {
    const text = repeated('abc@17x text ');
    const patterns = Array.from({ length: 20 }, (_, n) => `(?P<id>[a-z]+)@${n}x`);
    expect(searchAll(patterns, text, unhurried()).matches).toBe(769);
  });

  it('finds matches between letters, digits and white space of any script', () => {
    const found = (text: string) => searchAll(['#(?P<id>[0-9]+)'], text).matches;
    for (const text of ['\u0085#1', '\u00a0#1', '\u2028#1', '\u000b#1', '#1é', '#1𝒜', '𝒜#1', '٣#1']) {
      expect([text, found(text)]).toEqual([text, /^[\u0085\u00a0\u2028]/.test(text) ? 1 : 0]);
    }
  });

  it('stops searching when its time is up', async () => {
    const text = repeated(`${'a '.repeat(20)}aa1 `);
    const patterns = Array.from({ length: 1000 }, (_, n) => `(?P<id>[a-z]{${(n % 900) + 2},}[0-9])`);
    const LIMIT_MS = 250;
    let matches = 0;
    const work = () => {
      matches = searchAll(patterns, text).matches;
    };
    expect(await workMsOf(work, LIMIT_MS)).toBeLessThan(LIMIT_MS);
    expect(matches).toBeGreaterThan(0);
  });

  it('stops searching when a message of thousands of lines has hundreds of patterns without a literal', () => {
    const patterns = Array.from({ length: 500 }, (_, n) => `(?:(?P<id>a${n})|b${n})`);
    const all = new RealmLinkifiers(rulesOf(patterns));
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
