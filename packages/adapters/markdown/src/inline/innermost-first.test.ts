import fc from 'fast-check';
import { WorkBudget } from '../budgets.js';
import { SPACE, WORD } from '../characters.js';
import { replaceBetweenStars } from './emphasis.js';
import { replaceFormulas } from './formulas.js';

/** Simplest specification: replaces the first match and starts again. */
function replaceInnermostFirst(text: string, pattern: RegExp, replace: (inside: string) => string): string {
  let result = text;
  for (let match = pattern.exec(result); match; match = pattern.exec(result)) {
    const end = match.index + match[0].length;
    result = result.slice(0, match.index) + replace(match[1]!) + result.slice(end);
  }
  return result;
}

/** Represents replaced content without a trailing letter. */
function placeholders(): (inside: string) => string {
  const seen: string[] = [];
  return (inside) => `\u0002${seen.push(inside)}:${inside.length}\u0003`;
}

const textOf = (...pieces: readonly string[]) =>
  fc.array(fc.constantFrom(...pieces), { maxLength: 30 }).map((parts) => parts.join(''));

describe('linear replacement of nested pairs', () => {
  it.each([
    [1, new RegExp(`\\*(?![${SPACE}])([^*^\\n]+)(?<![${SPACE}])\\*`)],
    [3, new RegExp(`\\*\\*\\*(?![${SPACE}])([^*^\\n]+)(?<![${SPACE}])\\*\\*\\*`)],
  ])('replaces text between runs of %i stars', (width, pattern) => {
    fc.assert(
      fc.property(textOf('*', '*', '**', '***', '****', 'a', ' ', '^', '\n', '\u00a0'), (text) => {
        expect(replaceBetweenStars(text, width, new WorkBudget(), placeholders())).toBe(
          replaceInnermostFirst(text, pattern, placeholders()),
        );
      }),
      { numRuns: 5000 },
    );
  });

  it('finds formulas', () => {
    const pattern = new RegExp(`(?<![${WORD}$])\\$\\$([^\\n_$](?:\\\\\\$|[^$\\n])*)\\$\\$(?![${WORD}$])`, 'u');
    fc.assert(
      fc.property(textOf('$', '$$', '$$', '$$$', '\\', '\\$', 'x', ' ', '_', '\n', '😀', '日'), (text) => {
        expect(replaceFormulas(text, placeholders())).toBe(replaceInnermostFirst(text, pattern, placeholders()));
      }),
      { numRuns: 5000 },
    );
  });
});
