#!/usr/bin/env node
import { parseArgs } from 'node:util';
import { type MarkdownOptions, NOTHING_NAMED } from '@parley/domain/markdown';
import { ZulipMarkdownRenderer } from '@parley/markdown';
import { allHostilePatterns, type HostilePattern, someHostilePatterns } from '@parley/testkit';
import { leastStall } from './harness/stall.js';

const USAGE = `node packages/testing/bench/dist/find-slow-texts.js [--threes COUNT] [--seed NUMBER] [--every NUMBER]

Repeats pieces of syntax up to the maximum message size. Lists the texts that block the event loop longest, and those that take
more than five times as long at four times the length.
  --threes COUNT  this many combinations of three pieces instead of all single pieces and pairs
  --seed NUMBER   selects the combinations; default: 1
  --every NUMBER  tests only every nth single piece and pair`;

const { values } = parseArgs({
  options: {
    threes: { type: 'string' },
    seed: { type: 'string', default: '1' },
    every: { type: 'string', default: '1' },
    help: { type: 'boolean', default: false },
  },
});

const OPTIONS: MarkdownOptions = {
  realmUrl: 'https://chat.example',
  linkifiers: [],
  defaultCodeLanguage: '',
  mediaPreviews: true,
  translateEmoticons: true,
  emptyTopicName: 'general chat',
};
const LARGE = 10_000;
const SMALL = LARGE / 4;
/** Texts below this time are not measured again. */
const NOTICED_MS = 6;
const SHOWN = 30;
const STEEP = 5;

interface Finding {
  readonly name: string;
  readonly stallMs: number;
  readonly growth: number;
}

if (values.help) console.log(USAGE);
else await search();

async function search(): Promise<void> {
  const renderer = new ZulipMarkdownRenderer({ fileLinks: true });
  const render = (text: string) => async () => renderer.render(await renderer.parse(text, OPTIONS), NOTHING_NAMED);
  const findings: Finding[] = [];
  let count = 0;
  for (const { name, fill } of patterns()) {
    count++;
    const large = render(fill(LARGE));
    if ((await leastStall(large, 1)) < NOTICED_MS) continue;
    const stallMs = await leastStall(large, 4);
    if (stallMs < NOTICED_MS) continue;
    findings.push({ name, stallMs, growth: stallMs / (await leastStall(render(fill(SMALL)), 4)) });
  }
  await renderer.close();
  console.log(`${count} texts, ${findings.length} of them noticed`);
  show('Longest', findings);
  show(
    `More than ${STEEP} times as long`,
    findings.filter(({ growth }) => growth > STEEP),
  );
}

function* patterns(): Generator<HostilePattern> {
  if (values.threes !== undefined) {
    yield* someHostilePatterns(Number(values.threes), Number(values.seed));
    return;
  }
  let i = 0;
  for (const pattern of allHostilePatterns()) if (i++ % Number(values.every) === 0) yield pattern;
}

function show(title: string, findings: readonly Finding[]): void {
  console.log(`\n${title}:`);
  for (const { name, stallMs, growth } of [...findings].sort((a, b) => b.stallMs - a.stallMs).slice(0, SHOWN)) {
    console.log(`${stallMs.toFixed(1).padStart(8)} ms  ×${growth.toFixed(1).padEnd(5)} ${name}`);
  }
}
