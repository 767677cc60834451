import { DrivenTime } from '@parley/testkit';
import { StorageWatch } from './storage-watch.js';

it('StorageWatch checks the storage every second and ends pending polls once if it is lost', async () => {
  const time = new DrivenTime();
  const reports: unknown[] = [];
  let looks = 0;
  let isLost = false;
  let closed = 0;
  const verify = () => {
    looks++;
    if (isLost) throw new Error('gone');
  };
  const watch = new StorageWatch(verify, { close: () => void closed++ }, time, (message) => reports.push(message));
  watch.start();
  await time.advance(5);
  expect([looks, closed]).toEqual([5, 0]);
  isLost = true;
  await time.advance(5);
  expect([looks, closed, reports]).toEqual([10, 1, []]);
  await watch.stop();
  expect(time.pending).toBe(0);
});
