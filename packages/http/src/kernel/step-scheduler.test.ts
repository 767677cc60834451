import { retainedBytes } from '@parley/testkit/process-usage';
import { StepScheduler } from './json-lists.js';

const turn = () => new Promise((resolve) => setImmediate(resolve));

let now = 0;
const newScheduler = () => new StepScheduler(() => now);

function work(ms: number): void {
  now += ms;
}

function* steps(count: number, ms: number, done: string[], name: string): Generator<void, string> {
  for (let n = 0; n < count; n++) {
    work(ms);
    done.push(name);
    yield;
  }
  return name;
}

describe('StepScheduler.runSteps', () => {
  it('completes short work before the next event loop turn', async () => {
    const done: string[] = [];
    const result = newScheduler().runSteps(steps(50, 0, done, 'a'));
    expect(done).toHaveLength(50);
    expect(await result).toBe('a');
  });

  it('yields to the event loop between the steps of long work', async () => {
    const done: string[] = [];
    const result = newScheduler().runSteps(steps(3, 10, done, 'a'));
    const seen = [done.length];
    for (let n = 0; n < 20 && done.length < 3; n++) {
      await turn();
      seen.push(done.length);
    }
    expect([...new Set(seen)]).toEqual([1, 2, 3]);
    expect(await result).toBe('a');
  });

  it('runs only one work item per event loop turn', async () => {
    const scheduler = newScheduler();
    const done: string[] = [];
    const results = ['a', 'b', 'c'].map((name) => scheduler.runSteps(steps(3, 10, done, name)));
    let most = 0;
    for (let before = done.length; done.length < 9; before = done.length) {
      await turn();
      most = Math.max(most, done.length - before);
    }
    expect(most).toBe(1);
    expect(await Promise.all(results)).toEqual(['a', 'b', 'c']);
  });

  it('rejects with the error of a step while other work continues', async () => {
    const scheduler = newScheduler();
    function* failing(): Generator<void, void> {
      work(10);
      yield;
      throw new Error('no');
    }
    const failed = scheduler.runSteps(failing());
    const other = scheduler.runSteps(steps(2, 10, [], 'a'));
    await expect(failed).rejects.toThrow('no');
    expect(await other).toBe('a');
  });

  it('retains no result of finished work', async () => {
    const scheduler = newScheduler();
    const reference = new WeakRef(await scheduler.run(async () => ({ some: 'text' })));
    // A weak reference keeps its target alive until the current task ends.
    await turn();
    retainedBytes();
    expect(reference.deref()).toBeUndefined();
    expect(await scheduler.run(async () => 'more')).toBe('more');
  });
});
