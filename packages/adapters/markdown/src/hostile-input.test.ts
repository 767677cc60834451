import { HOSTILE_TEXTS } from '@parley/testkit';
import { workMsOf } from '@parley/testkit/process-usage';
import fc from 'fast-check';
import { findFaults } from './fixtures/safe-html.js';
import { typesetterWith } from './fixtures/typesetters.js';
import { linkifiers, OPTIONS, resolve } from './fixtures/world.js';
import { ZulipMarkdownRenderer } from './zulip-markdown-renderer.js';

const renderer = new ZulipMarkdownRenderer({}, typesetterWith(150));

/** CPU time; generous because tests are instrumented and may be debugged. */
const BUDGET_MS = 1000;

async function render(content: string, options = OPTIONS): Promise<string> {
  try {
    const parsed = await renderer.parse(content, options);
    return renderer.render(parsed, resolve(parsed)).html;
  } catch (error) {
    expect((error as Error).message).toBe('Unable to render message');
    return '';
  }
}

describe('renderer with hostile text', () => {
  beforeAll(async () => {
    for (const text of Object.values(HOSTILE_TEXTS)) await render(text.slice(0, 500));
  });

  it.each(Object.keys(HOSTILE_TEXTS))('finishes in time or rejects the text: %s', async (name) => {
    const work = async () => expect(findFaults(await render(HOSTILE_TEXTS[name]!))).toEqual([]);
    expect(await workMsOf(work, BUDGET_MS)).toBeLessThan(BUDGET_MS);
  });

  it.each(['(a+)+$', '(?:[^z]*z|a)', '(?:a?){50}a{50}', '(?:.*(?:x|y)z|a)', '.*', '\\b', '(', '(?=a)'])(
    'finishes in time with the linkifier %s',
    async (pattern) => {
      const options = { ...OPTIONS, linkifiers: linkifiers([[pattern, 'https://a.example/{id}']]) };
      for (const text of ['a'.repeat(10_000), 'a '.repeat(5000), 'a,'.repeat(5000)]) {
        const work = async () => expect(findFaults(await render(text, options))).toEqual([]);
        expect(await workMsOf(work, BUDGET_MS)).toBeLessThan(BUDGET_MS);
      }
    },
  );
});

describe('renderer with arbitrary text', () => {
  /** Syntax fragments, so that generated texts contain constructs instead of plain letters. */
  const piece = fc.constantFrom(
    ...'*¦**¦***¦~~¦`¦``¦```¦~~~¦````¦\n¦\n\n¦ ¦  ¦    ¦\t¦> ¦>¦# ¦- ¦* ¦1. ¦2. ¦10. ¦---¦$$¦$¦\\¦\\\\¦_¦__¦:¦:smile:¦:parrot:¦<¦>¦<b>¦</div>¦<script>¦<time:2024-01-01>¦<time:¦@**¦@_**¦@*¦Ann Example¦**¦#**design¦#**¦>Sprint plan¦@214¦@**Ann Example**¦@**all**¦@*support*¦#**design>x**¦[¦]¦(¦)¦](¦![¦http://¦https://a.example/x.png¦a.com¦mailto:¦javascript:¦data:text/html,¦//¦/user_uploads/1/a.png¦https://chat.example/#narrow/x¦x@y.com¦"¦\'¦&¦&amp;¦&lt;¦&#x6a;¦;¦quote¦spoiler¦spoiler h¦math¦python¦js¦\n```¦\n```quote\n¦\n```spoiler a\n¦\n```math\nx\n```\n¦\n> ¦\n* ¦\n1. ¦\n  * ¦\n    ¦\na|b\n-|-\nc|d¦~¦!¦{¦}¦\\frac{1}{2}¦\\href{javascript:x}{y}¦#123¦😀¦❤️¦1️⃣¦👩‍💻¦\u0002¦\u0003¦\u00020\u0003¦\u0002h0\u0003¦\u0000¦\r\n¦\u00a0¦\u2028¦\ud83d¦onerror=¦style=¦/me ¦:)¦<3¦x¦word¦youtu.be/hx1mjT73xYE¦|¦||¦|--¦|:-:|¦\n|a|\n|-|\n'.split(
      '¦',
    ),
  );
  const text = fc
    .array(fc.oneof({ weight: 9, arbitrary: piece }, fc.string({ maxLength: 5 })))
    .map((pieces) => pieces.join(''));

  it('produces only HTML allowed in messages', async () => {
    await fc.assert(
      fc.asyncProperty(text, fc.boolean(), async (content, translateEmoticons) => {
        expect(findFaults(await render(content, { ...OPTIONS, translateEmoticons }))).toEqual([]);
      }),
      { numRuns: 1000, examples: [['$$\\\\$$', false]] },
    );
  });

  it('produces the same HTML repeatedly for the same names', async () => {
    await fc.assert(
      fc.asyncProperty(text, async (content) => {
        const parsed = await renderer.parse(content, OPTIONS);
        const names = resolve(parsed);
        expect(renderer.render(parsed, names)).toEqual(renderer.render(parsed, names));
      }),
      { numRuns: 200 },
    );
  });
});
