import { readFileSync } from 'node:fs';
import { badPassages, commentsOf, isBadStart, titlesOf } from './prose.js';

describe('prose', () => {
  it('begins comments with a noun or a verb', () => {
    expect(badPassages('.ts', commentsOf)).toEqual([]);
  });

  it('begins test titles with a subject or a verb', () => {
    expect(badPassages('.test.ts', titlesOf)).toEqual([]);
  });

  it('repeats no line of the unreleased changes, as merges may do', () => {
    const [, unreleased] = readFileSync('docs/CHANGELOG.md', 'utf8').split(/^## /m);
    const beginnings = unreleased!.split('\n').flatMap((line) => /^[-\s]+[`\w].{40}/.exec(line)?.[0] ?? []);
    expect(beginnings.filter((beginning, n) => beginnings.indexOf(beginning) < n)).toEqual([]);
  });
});

describe('prose check', () => {
  it.each(['Of all users.', 'What follows', 'whose channel is archived', 'That one'])('rejects “%s”', (text) => {
    expect(isBadStart(text)).toBe(true);
  });

  it.each(['For example, a bot.', 'By default, none.', 'Format of dates', 'Asks the host', 'Returns what is left'])(
    'accepts “%s”',
    (text) => {
      expect(isBadStart(text)).toBe(false);
    },
  );

  it('reads comments of every form, and joins successive lines', () => {
    const code = [
      '/** First. */',
      'const url = "https://example.com"; // Second.',
      '  // Third,',
      '  // continued.',
      '/**',
      ' * Fourth.',
      ' */',
    ].join('\n');
    expect(commentsOf(code)).toEqual([
      { line: 1, text: 'First.' },
      { line: 2, text: 'Second.' },
      { line: 3, text: 'Third,' },
      { line: 5, text: 'Fourth.' },
    ]);
  });

  it('reads titles of tests and tables', () => {
    const code = [
      "describe('first', () => {",
      "  it.each([1, 2])('second %s', () => {});",
      '  it.each`',
      '    a',
      '  `(',
      "    'third',",
      '    () => {},',
      '  );',
      '  it(`isn’t "fourth"`, () => {});',
    ].join('\n');
    expect(titlesOf(code)).toEqual([
      { line: 1, text: 'first' },
      { line: 2, text: 'second %s' },
      { line: 6, text: 'third' },
      { line: 9, text: 'isn’t "fourth"' },
    ]);
  });
});
