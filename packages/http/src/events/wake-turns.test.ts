import { setImmediate as nextTurn } from 'node:timers/promises';
import { WakeTurns } from './wake-turns.js';

describe('turns of those who are woken', () => {
  it('come later, in order, and leave the event loop to others in between', async () => {
    const turns = new WakeTurns();
    const called: (number | string)[] = [];
    for (let n = 0; n < 150; n++) turns.add(() => called.push(n));
    expect(called).toEqual([]);
    for (let turn = 0; turn < 4; turn++) {
      await nextTurn();
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

  it('are taken again when somebody comes during a turn, or after the last one', async () => {
    const turns = new WakeTurns();
    const called: string[] = [];
    turns.add(() => {
      called.push('first');
      turns.add(() => called.push('during'));
    });
    await nextTurn();
    await nextTurn();
    turns.add(() => called.push('after'));
    await nextTurn();
    await nextTurn();
    expect(called).toEqual(['first', 'during', 'after']);
  });
});
