import type { Ordinal, RecipientId, UserId } from '@parley/domain/kernel';
import { OrdinalRuns } from './ordinal-runs.js';

const [town, plan] = [1 as RecipientId, 2 as RecipientId];
const [ann, bob] = [1 as UserId, 2 as UserId];
const range = (first: number, last = first) => ({ first, last });

describe('OrdinalRuns', () => {
  it('collects received and read messages as ranges per user', () => {
    const runs = new OrdinalRuns();
    for (const [ordinal, isRead] of [
      [1, true],
      [2, true],
      [3, false],
      [5, true],
    ] as const) {
      runs.to(town).add(ann, ordinal as Ordinal, isRead);
    }
    expect(runs.of(ann, []).get(town)).toEqual({ received: [range(1, 3), range(5)], read: [range(1, 2), range(5)] });
    expect(runs.of(bob, [town]).size).toBe(0);
  });

  it('gives messages for subscribers to them as read, except those listed as unread', () => {
    const runs = new OrdinalRuns();
    for (const ordinal of [1, 2, 3, 4, 6, 7]) runs.to(town).addForSubscribers(ordinal as Ordinal);
    const own = [
      [2, false],
      [3, true],
      [5, true],
      [6, false],
      [7, false],
    ] as const;
    for (const [ordinal, isRead] of own) runs.to(town).add(ann, ordinal as Ordinal, isRead);
    runs.to(plan).add(ann, 1 as Ordinal, true);
    const all = runs.of(ann, [town]);
    expect(all.get(town)).toEqual({ received: [range(1, 7)], read: [range(1), range(3, 5)] });
    expect(all.get(plan)).toEqual({ received: [range(1)], read: [range(1)] });
    expect(runs.of(bob, [town]).get(town)).toEqual({
      received: [range(1, 4), range(6, 7)],
      read: [range(1, 4), range(6, 7)],
    });
    expect(runs.of(bob, []).size).toBe(0);
  });
});
