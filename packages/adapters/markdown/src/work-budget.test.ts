import { allHostilePatterns, HOSTILE_TEXTS, type HostilePattern, someHostilePatterns } from '@parley/testkit';
import { MAX_WORK, WorkBudget } from './budgets.js';
import { typesetterWith } from './fixtures/typesetters.js';
import { OPTIONS, resolve } from './fixtures/world.js';
import { ZulipMarkdownRenderer } from './zulip-markdown-renderer.js';

const budgets: WorkBudget[] = [];
const renderer = new ZulipMarkdownRenderer({ fileLinks: true }, typesetterWith(0), () => {
  const budget = new WorkBudget();
  budgets.push(budget);
  return budget;
});

/** Returns the total steps of rendering; null if the text was rejected. */
function stepsOf(content: string): number | null {
  budgets.length = 0;
  try {
    const parsed = renderer.parseNow(content, { ...OPTIONS, linkifiers: [], translateEmoticons: true });
    renderer.render(parsed, resolve(parsed));
  } catch (error) {
    expect((error as Error).message).toBe('Unable to render message');
    return null;
  }
  return budgets.reduce((sum, { steps }) => sum + steps, 0);
}

/** True if four times the text causes more than about four times the work, as long as it can be rendered. */
function growsTooFast({ fill }: HostilePattern): boolean {
  const large = stepsOf(fill(10_000)) ?? 0;
  // Tests two lengths, because an odd number of pieces may have a different meaning than an even one.
  const small = Math.max(...[2450, 2500].map((length) => stepsOf(fill(length)) ?? MAX_WORK));
  return large > 5 * small + LITTLE;
}

/** Allowance for the fixed cost of short texts. */
const LITTLE = 50_000;

describe('rendering work', () => {
  it.each([
    ['one piece of syntax, or two', () => [...allHostilePatterns()].filter((_, i) => i % 499 === 0)],
    ['three', () => [...someHostilePatterns(200, 1)]],
  ])('grows no faster than the text: %s', (_, patterns) => {
    // Nesting depth has a separate limit.
    const shallow = patterns().filter(({ name }) => !name.startsWith('deep'));
    expect(shallow.filter(growsTooFast).map(({ name }) => name)).toEqual([]);
  });

  it('stays far below the maximum for ordinary messages of maximum length', () => {
    const sentence =
      'The **release** is [planned](https://a.example/7) for *Thursday*, `npm test` passes :tada: @**Ann Example**\n';
    for (const prefix of ['', '* ', '> ', '1. ']) {
      expect(stepsOf((prefix + sentence).repeat(100).slice(0, 10_000))).toBeLessThan(MAX_WORK / 3);
    }
  });

  it('rejects a text above the maximum work', () => {
    const budget = new WorkBudget();
    budget.spend(MAX_WORK);
    expect(() => budget.spend(1)).toThrow('Unable to render message');
    expect(stepsOf(HOSTILE_TEXTS.quoteLines!)).toBeNull();
  });
});
