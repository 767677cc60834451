import { RequestTurns } from './request-turns.js';

const turn = () => new Promise((resolve) => setImmediate(resolve));

let now = 0;
const newTurns = () => new RequestTurns(() => now);

describe('requests that come at the same moment', () => {
  it('begin at once while they take little', () => {
    const turns = newTurns();
    let begun = 0;
    for (let n = 0; n < 20; n++) turns.run(() => begun++);
    expect(begun).toBe(20);
  });

  it('yield to the event loop between them when they take long, and keep their order', async () => {
    const turns = newTurns();
    const begun: number[] = [];
    const run = (n: number) =>
      turns.run(() => {
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
