import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packagesDir } from './source-code.js';

const MAX_POINTS = 60;
const MAX_WORDS = 4_000;

const [, ...sections] = readFileSync(join(packagesDir, '../docs/CHANGELOG.md'), 'utf8').split(/^## /m);

/** List items at all levels, and words. */
const sizeOf = (text: string) => ({
  points: text.match(/^ *- /gm)?.length ?? 0,
  words: text.match(/\S+/g)?.length ?? 0,
});

describe('changelog', () => {
  it('lists the unreleased changes first', () => {
    expect(sections[0]).toMatch(/^\[Unreleased\]\n/);
  });

  it.each(sections.map((text) => [/^\[(.*?)\]/.exec(text)?.[1], text] as const))(
    `has at most ${MAX_POINTS} points and ${MAX_WORDS} words about %s`,
    (_, text) => {
      const { points, words } = sizeOf(text);
      expect(points).toBeLessThanOrEqual(MAX_POINTS);
      expect(words).toBeLessThanOrEqual(MAX_WORDS);
    },
  );
});

it('size of a release includes nested points', () => {
  expect(sizeOf('1.0.0\n\n- One two.\n  - Three.\n')).toEqual({ points: 2, words: 6 });
});
