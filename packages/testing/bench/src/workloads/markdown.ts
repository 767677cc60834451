import { performance } from 'node:perf_hooks';
import { type MarkdownOptions, NOTHING_NAMED } from '@parley/domain/markdown';
import { ZulipMarkdownRenderer } from '@parley/markdown';
import { HOSTILE_TEXTS } from '@parley/testkit';
import MarkdownIt from 'markdown-it';
import { interleave, median } from '../harness/interleave.js';
import { leastStall } from '../harness/stall.js';
import { formatNumber } from '../harness/table.js';
import type { Figure, Goal, Workload } from '../workload.js';

const OPTIONS: MarkdownOptions = {
  realmUrl: 'https://chat.example',
  linkifiers: [],
  defaultCodeLanguage: '',
  mediaPreviews: true,
  translateEmoticons: false,
  emptyTopicName: 'general chat',
};

const PLAIN = 'The build is green again, so we can ship this afternoon if nobody objects until then.';
const TYPICAL = `Good morning! The **release** is planned for *Thursday*, see https://example.com/plans/7 for the list.

* \`npm test\` passes on both machines :tada:
* the migration takes about 40 seconds
* [notes](https://example.com/notes) are not complete yet

> Could somebody look at the last item?

I will, after lunch. If it fails, we go back with \`git revert\` and try again on Monday; there is no hurry, and the people
who asked for it know that. Thanks to everybody who helped with the tests this week, it was a lot of work.`;

/** Markdown rendering compared with a renderer of another dialect. */
export const markdown: Workload = {
  name: 'markdown',
  async run(lab) {
    const renderer = new ZulipMarkdownRenderer();
    const other = new MarkdownIt();
    const ours = async (text: string) => renderer.render(await renderer.parse(text, OPTIONS), NOTHING_NAMED).html;
    const theirs = async (text: string) => other.render(text);

    async function figure(label: string, text: string, times: number, goal: Goal): Promise<Figure> {
      const perText = (render: (text: string) => Promise<string>) => async () => {
        const before = performance.now();
        for (let i = 0; i < times; i++) await render(text);
        return ((performance.now() - before) / times) * 1000;
      };
      const rounds = await interleave(lab.rounds, { parley: perText(ours), other: perText(theirs) });
      return {
        label: `${label} (${text.length} characters); for comparison markdown-it`,
        ours: `${formatNumber(median(rounds.parley))} µs`,
        limit: `${formatNumber(median(rounds.other))} µs`,
        value: median(rounds.parley),
        goal,
      };
    }

    /** Longest event loop stall caused by a hostile text. */
    async function worstStall(): Promise<Figure> {
      const texts = Object.entries(HOSTILE_TEXTS).slice(0, lab.size(1000, 5));
      const worstOf = async (render: (text: string) => Promise<string>) => {
        let worst = { name: '', stallMs: 0 };
        for (const [name, text] of texts) {
          const stallMs = await leastStall(() => render(text), lab.size(5, 1));
          if (stallMs > worst.stallMs) worst = { name, stallMs };
        }
        return worst;
      };
      const parley = await worstOf(ours);
      const beside = await worstOf(theirs);
      return {
        label: `event loop blocked by the worst of ${texts.length} hostile texts (${parley.name}); for comparison markdown-it (${beside.name})`,
        ours: `${formatNumber(parley.stallMs)} ms`,
        limit: `${formatNumber(beside.stallMs)} ms`,
        value: parley.stallMs,
        goal: { atMost: 50, unit: 'ms' },
      };
    }

    try {
      return [
        await figure('rendering a plain sentence', PLAIN, lab.size(20_000, 200), { atMost: 15, unit: 'µs' }),
        await figure('rendering a typical message', TYPICAL, lab.size(5000, 50), { atMost: 60, unit: 'µs' }),
        await worstStall(),
      ];
    } finally {
      await renderer.close();
    }
  },
};
