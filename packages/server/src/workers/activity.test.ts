import { DrivenTime } from '@parley/testkit';
import { Activity } from './activity.js';

describe('Activity', () => {
  it('is quiet half a minute after the last use and informs listeners of the next use once', async () => {
    const time = new DrivenTime();
    const activity = new Activity(time, () => false);
    let resumed = 0;
    activity.onResume(() => resumed++);
    await time.advance(29);
    activity.record();
    await time.advance(29);
    expect(activity.isQuiet).toBe(false);
    await time.advance(1);
    expect([activity.isQuiet, resumed]).toEqual([true, 0]);
    activity.record();
    activity.record();
    expect([activity.isQuiet, resumed]).toEqual([false, 1]);
  });

  it('is not quiet while somebody receives events', async () => {
    const time = new DrivenTime();
    let hasReceivers = true;
    const activity = new Activity(time, () => hasReceivers);
    await time.advance(3600);
    expect(activity.isQuiet).toBe(false);
    hasReceivers = false;
    expect(activity.isQuiet).toBe(true);
  });
});
