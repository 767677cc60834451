import { StorageWatch } from './storage-watch.js';

it('StorageWatch ends pending polls once if the storage is lost', async () => {
  let isLost = false;
  let closed = 0;
  const verify = () => {
    if (isLost) throw new Error('gone');
  };
  const watch = new StorageWatch(verify, { close: () => void closed++ });
  await watch.run();
  expect(closed).toBe(0);
  isLost = true;
  await watch.run();
  await watch.run();
  expect(closed).toBe(1);
});
