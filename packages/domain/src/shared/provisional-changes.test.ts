import { createFixture, runningTwice } from '@parley/testkit';
import { writeProvisionally } from './provisional-changes.js';

describe('what a unit counts in memory', () => {
  const counting = async (uowOf: typeof runningTwice | null, fails: boolean) => {
    const { uow } = await createFixture();
    const steps: string[] = [];
    const counted = writeProvisionally(uowOf ? uowOf(uow) : uow, async (_, onRollback) => {
      for (const name of ['a', 'b']) {
        steps.push(`+${name}`);
        onRollback(() => steps.push(`-${name}`));
      }
      if (fails) throw new Error('refused');
    });
    await counted.catch(() => {});
    return steps.join(' ');
  };

  it('stays once the unit is committed', async () => {
    expect(await counting(null, false)).toBe('+a +b');
  });

  it('is taken back, the last first, when the unit fails', async () => {
    expect(await counting(null, true)).toBe('+a +b -b -a');
  });

  it('is counted once when the unit runs again', async () => {
    expect(await counting(runningTwice, false)).toBe('+a +b -b -a +a +b');
  });
});
