import { PacedCalls } from './paced-calls.js';

const turn = () => new Promise((resolve) => setImmediate(resolve));

let now = 0;

describe('PacedCalls with an immediate period', () => {
  const newCalls = () => new PacedCalls(16, 5, () => now);

  it('runs cheap calls immediately', () => {
    const calls = newCalls();
    let begun = 0;
    for (let n = 0; n < 20; n++) calls.run(() => begun++);
    expect(begun).toBe(20);
  });

  it('yields to the event loop between expensive calls and keeps their order', async () => {
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
});

describe('PacedCalls without an immediate period', () => {
  it('runs calls later and in order, yielding to the event loop in between', async () => {
    const calls = new PacedCalls(64);
    const called: (number | string)[] = [];
    for (let n = 0; n < 150; n++) calls.run(() => called.push(n));
    expect(called).toEqual([]);
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

  it('runs calls that are added during a turn or after the last one', async () => {
    const calls = new PacedCalls(64);
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
