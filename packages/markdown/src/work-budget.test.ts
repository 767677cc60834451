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

/** Of everything that rendering does; null when it was refused. */
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

/** Whether four times the text makes more than about four times the work, as far as it is rendered at all. */
function growsTooFast({ fill }: HostilePattern): boolean {
  const large = stepsOf(fill(10_000)) ?? 0;
  // Of several lengths, since in some texts an odd number of pieces means something else than an even one.
  const small = Math.max(...[2450, 2500].map((length) => stepsOf(fill(length)) ?? MAX_WORK));
  return large > 5 * small + LITTLE;
}

/** What a short text costs whatever it says. */
const LITTLE = 50_000;

describe('the work that a text makes', () => {
  it.each([
    ['one piece of syntax, or two', () => [...allHostilePatterns()].filter((_, i) => i % 499 === 0)],
    ['three', () => [...someHostilePatterns(200, 1)]],
  ])('grows no faster than the text: %s', (_, patterns) => {
    // Depth has a limit of its own.
    const shallow = patterns().filter(({ name }) => !name.startsWith('deep'));
    expect(shallow.filter(growsTooFast).map(({ name }) => name)).toEqual([]);
  });

  it('of any kind of largest message is far from the limit', () => {
    const sentence =
      'The **release** is [planned](https://a.example/7) for *Thursday*, `npm test` passes :tada: @**Ann Example**\n';
    for (const prefix of ['', '* ', '> ', '1. ']) {
      expect(stepsOf((prefix + sentence).repeat(100).slice(0, 10_000))).toBeLessThan(MAX_WORK / 3);
    }
  });

  it('has a limit', () => {
    const budget = new WorkBudget();
    budget.spend(MAX_WORK);
    expect(() => budget.spend(1)).toThrow('Unable to render message');
    expect(stepsOf(HOSTILE_TEXTS.quoteLines!)).toBeNull();
  });
});
