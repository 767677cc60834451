import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BuiltScript, buildScript, HOSTILE_TEXTS } from '@parley/testkit';
import { workMsOf } from '@parley/testkit/process-usage';
import type { CodeJob, FormulaJob, TypesettingResult } from './typeset.js';
import { TypesettingThread } from './typesetting.js';

const formula = (source: string): FormulaJob => ({ kind: 'formula', source, displayMode: false });
const code = (source: string): CodeJob => ({ kind: 'code', source, grammar: 'python' });
/** A matrix of one very long row. */
const SLOW = formula(HOSTILE_TEXTS.mathmatrix!.slice(8, -4));
/** Starting a thread takes long where others have the cores. */
const PATIENCE = { waitMs: 60_000, workMs: 60_000 };

describe('code and formulas', () => {
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

  /** A thread whose script does something else. */
  const threadOf = (name: string, script: string) => {
    const path = join(built.script, '..', `${name}.cjs`);
    writeFileSync(
      path,
      `const { parentPort, workerData } = require('node:worker_threads');\nAtomics.store(workerData, 0, 1);\n${script}`,
    );
    thread = new TypesettingThread(path, PATIENCE);
    return thread;
  };

  it('come back in their order, each by itself', async () => {
    const results = await thread.typeset([formula('e=mc^2'), code('if x: pass'), formula('\\nothing')]);
    expect(results[0]).toContain('<span class="katex">');
    expect(results[1]).toBe('<span class="k">if</span> x: <span class="k">pass</span>');
    expect(results[2]).toBeNull();
  });

  it('leave the event loop alone', async () => {
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

  it('that take long do not hold up the short ones behind them', async () => {
    const done: string[] = [];
    const note = (name: string) => () => done.push(name);
    await Promise.all([
      thread.typeset([SLOW]).then(note('slow')),
      thread.typeset([SLOW]).then(note('slow too')),
      thread.typeset([formula('x')]).then(note('quick')),
    ]);
    expect(done).toEqual(['slow', 'quick', 'slow too']);
  });

  it('stay plain when the thread ends over them, and the next do not', async () => {
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

  it('cannot fill the memory', async () => {
    threadOf(
      'hoards',
      `parentPort.on('message', () => { const hoard = []; for (;;) hoard.push(new Array(1000).fill(hoard)); });`,
    );
    expect(await thread.typeset([code('x')])).toEqual([]);
  });

  it('are made here, in little time, where no thread can be started', async () => {
    for (const nowhere of [null, join(built.script, '..', 'missing.cjs')]) {
      await thread.close();
      thread = new TypesettingThread(nowhere);
      expect((await thread.typeset([formula('x')]))[0]).toContain('katex');
      const work = async () => expect(await thread.typeset([SLOW])).toEqual([null]);
      expect(await workMsOf(work, 1000)).toBeLessThan(1000);
    }
  });

  it('stay plain when too much is waiting already', async () => {
    threadOf('never-answers', 'parentPort.on("message", () => undefined);');
    const waiting = Array.from({ length: 120 }, () => thread.typeset([code('x'.repeat(10_000))]));
    expect(await Promise.race(waiting)).toEqual([]);
    await thread.close();
    expect((await Promise.all(waiting)).every((results: readonly TypesettingResult[]) => results.length === 0)).toBe(
      true,
    );
  });

  it('stay plain once the thread is closed', async () => {
    const waiting = thread.typeset([SLOW]);
    await thread.close();
    expect(await waiting).toEqual([]);
    expect(await thread.typeset([code('if')])).toEqual([]);
  });
});
