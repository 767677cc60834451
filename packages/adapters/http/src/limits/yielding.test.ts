import { retainedBytes } from '@parley/testkit/process-usage';
import { YieldingCalls, YieldingScheduler } from './yielding.js';

const turn = () => new Promise((resolve) => setImmediate(resolve));

let now = 0;
const newScheduler = () => new YieldingScheduler(() => now);

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

describe('YieldingScheduler.runSteps', () => {
  it('completes short work before the event loop turns', async () => {
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
    const before = retainedBytes();
    await scheduler.run(async () => ({ data: new Array<number>(1_000_000).fill(1.5) }));
    await turn();
    expect(retainedBytes() - before).toBeLessThan(1_000_000);
    expect(await scheduler.run(async () => 'more')).toBe('more');
  });
});

describe('YieldingCalls that may run immediately', () => {
  const newCalls = () => new YieldingCalls(16, 5, () => now);

  it('run immediately while they are short', () => {
    const calls = newCalls();
    let begun = 0;
    for (let n = 0; n < 20; n++) calls.run(() => begun++);
    expect(begun).toBe(20);
  });

  it('yield to the event loop between expensive ones and keep their order', async () => {
    const calls = newCalls();
    const begun: number[] = [];
    const run = (n: number) =>
      calls.run(() => {
        begun.push(n);
        if (n === 0) now += 10;
      });
    for (let n = 0; n < 40; n++) run(n);
    expect(begun).toEqual([0]);
    const after: number[] = [];
    for (let n = 0; n < 5; n++) {
      await turn();
      after.push(begun.length);
      if (n === 0) run(40);
    }
    expect(after).toEqual([17, 33, 41, 41, 41]);
    expect(begun).toEqual(Array.from({ length: 41 }, (_, n) => n));
    run(41);
    expect(begun).toHaveLength(42);
  });

  it('serve clients with waiting calls round-robin', async () => {
    const calls = newCalls();
    const begun: string[] = [];
    const run = (client: string, n: number) =>
      calls.run(() => {
        begun.push(`${client}${n}`);
        now += 10;
      }, client);
    for (let n = 0; n < 100; n++) run('a', n);
    run('b', 0);
    run('b', 1);
    await turn();
    expect(begun.filter((each) => each.startsWith('b'))).toEqual(['b0', 'b1']);
    for (let n = 0; n < 10; n++) await turn();
    expect(begun.filter((each) => each.startsWith('a'))).toEqual(Array.from({ length: 100 }, (_, n) => `a${n}`));
  });

  it('serve each of many clients once before serving any client twice', async () => {
    const calls = newCalls();
    const begun: number[] = [];
    now += 10;
    calls.run(() => {
      now += 10;
    });
    for (let round = 0; round < 2; round++) {
      for (let n = 0; n < 40; n++) calls.run(() => begun.push(n), String(n));
    }
    for (let n = 0; n < 6; n++) await turn();
    const each = Array.from({ length: 40 }, (_, n) => n);
    expect(begun).toEqual([...each, ...each]);
  });
});

describe('YieldingCalls that always wait', () => {
  it('run after the present code and its promises, before other input', async () => {
    const called: string[] = [];
    setImmediate(() => called.push('input'));
    await Promise.resolve();
    new YieldingCalls(64).run(() => called.push('call'));
    void Promise.resolve()
      .then(() => {})
      .then(() => called.push('promise'));
    called.push('code');
    await turn();
    expect(called).toEqual(['code', 'promise', 'call', 'input']);
  });

  it('run in order, yielding to the event loop in between', async () => {
    const calls = new YieldingCalls(64);
    const called: (number | string)[] = [];
    for (let n = 0; n < 150; n++) calls.run(() => called.push(n));
    expect(called).toEqual([]);
    await new Promise(process.nextTick);
    called.push('others');
    for (let n = 0; n < 4; n++) {
      await turn();
      called.push('others');
    }
    const parts = called
      .join(' ')
      .split('others')
      .map((part) => part.trim().split(' ').filter(Boolean).length);
    expect(parts.slice(0, -1).reduce((sum, count) => sum + count, 0)).toBe(150);
    expect(Math.max(...parts)).toBeLessThanOrEqual(64);
    expect(called.filter((each) => typeof each === 'number')).toEqual(Array.from({ length: 150 }, (_, n) => n));
  });

  it('run even if added during a turn or after the last one', async () => {
    const calls = new YieldingCalls(64);
    const called: string[] = [];
    calls.run(() => {
      called.push('first');
      calls.run(() => called.push('during'));
    });
    await turn();
    await turn();
    calls.run(() => called.push('after'));
    await turn();
    await turn();
    expect(called).toEqual(['first', 'during', 'after']);
  });
});
