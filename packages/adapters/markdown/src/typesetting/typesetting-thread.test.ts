import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BuiltScript, buildScript } from '@parley/testkit';
import { workMsOf } from '@parley/testkit/process-usage';
import type { CodeJob, FormulaJob, TypesettingResult } from './typeset.js';
import { TypesettingThread } from './typesetting.js';

const formula = (source: string): FormulaJob => ({ kind: 'formula', source, displayMode: false });
const code = (source: string): CodeJob => ({ kind: 'code', source, grammar: 'python' });
/** Expands to a million letters. */
const SLOW = formula(`\\def\\a{${'x'.repeat(1000)}}${'\\a'.repeat(1000)}`);
/** Long timeouts, because starting a thread is slow on a busy machine. */
const PATIENCE = { waitMs: 60_000, workMs: 60_000 };

describe('typesetting of code and formulas', () => {
  let built: BuiltScript;
  let thread: TypesettingThread;

  beforeAll(() => {
    built = buildScript(join(__dirname, 'thread.ts'));
  });
  afterAll(() => built.remove());
  beforeEach(() => {
    thread = new TypesettingThread(built.script, PATIENCE);
  });
  afterEach(() => thread.close());

  /** Worker thread with a custom script. */
  const threadOf = (name: string, script: string) => {
    const path = join(built.script, '..', `${name}.cjs`);
    writeFileSync(
      path,
      `const { parentPort, workerData } = require('node:worker_threads');\nAtomics.store(workerData, 0, 1);\n${script}`,
    );
    thread = new TypesettingThread(path, PATIENCE);
    return thread;
  };

  it('returns results in order and independently of each other', async () => {
    const results = await thread.typeset([formula('e=mc^2'), code('if x: pass'), formula('\\nothing')]);
    expect(results[0]).toContain('<span class="katex">');
    expect(results[1]).toBe('<span class="k">if</span> x: <span class="k">pass</span>');
    expect(results[2]).toBeNull();
  });

  it('does not block the event loop', async () => {
    await thread.typeset([formula('x')]);
    let turns = 0;
    let isDone = false;
    const count = () => {
      turns++;
      if (!isDone) setImmediate(count);
    };
    count();
    expect(await thread.typeset([SLOW])).toEqual([null]);
    isDone = true;
    expect(turns).toBeGreaterThan(100);
  });

  it('serves short texts before waiting long texts', async () => {
    const done: string[] = [];
    const note = (name: string) => () => done.push(name);
    await Promise.all([
      thread.typeset([SLOW]).then(note('slow')),
      thread.typeset([SLOW]).then(note('slow too')),
      thread.typeset([formula('x')]).then(note('quick')),
    ]);
    expect(done).toEqual(['slow', 'quick', 'slow too']);
  });

  it('shows plain text after a thread crash, which does not affect later texts', async () => {
    threadOf(
      'falls-over-once',
      `parentPort.on('message', ([{ source }]) => {
         if (source === 'bad') throw new Error('Out of order');
         parentPort.postMessage([source]);
       });`,
    );
    const results = await Promise.all([thread.typeset([code('bad')]), thread.typeset([code('good')])]);
    expect(results).toEqual([[], ['good']]);
  });

  it('cannot exhaust memory', async () => {
    threadOf('hoards', `parentPort.on('message', () => { let hoard = null; for (;;) hoard = { hoard }; });`);
    expect(await thread.typeset([code('x')])).toEqual([]);
  });

  it('runs on the main thread with a short time limit if no thread can start', async () => {
    for (const nowhere of [null, join(built.script, '..', 'missing.cjs')]) {
      await thread.close();
      thread = new TypesettingThread(nowhere);
      expect((await thread.typeset([formula('x')]))[0]).toContain('katex');
      const work = async () => expect(await thread.typeset([SLOW])).toEqual([null]);
      expect(await workMsOf(work, 1000)).toBeLessThan(1000);
    }
  });

  it('shows plain text if the queue is full', async () => {
    threadOf('never-answers', 'parentPort.on("message", () => undefined);');
    const waiting = Array.from({ length: 120 }, () => thread.typeset([code('x'.repeat(10_000))]));
    expect(await Promise.race(waiting)).toEqual([]);
    await thread.close();
    expect((await Promise.all(waiting)).every((results: readonly TypesettingResult[]) => results.length === 0)).toBe(
      true,
    );
  });

  it('shows plain text after the thread is closed', async () => {
    const waiting = thread.typeset([SLOW]);
    await thread.close();
    expect(await waiting).toEqual([]);
    expect(await thread.typeset([code('if')])).toEqual([]);
  });
});
