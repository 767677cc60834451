import type { StoredEvent } from '@parley/domain/kernel';
import { DrivenTime } from '@parley/testkit';
import { MessageIndexing } from './message-indexing.js';

describe('MessageIndexing', () => {
  const changed = (setting: string) =>
    [{ event: { type: 'realm.setting_changed', setting } }] as unknown as readonly StoredEvent[];

  it('indexes at once when an organization changes its search languages, otherwise every minute', async () => {
    const time = new DrivenTime();
    let runs = 0;
    const execute = async () => {
      runs++;
      return false;
    };
    const indexing = new MessageIndexing({ execute }, time, () => {});
    indexing.start();
    await time.advance(30);
    indexing.onEvents(changed('description'));
    await time.advance(1);
    expect(runs).toBe(1);
    indexing.onEvents(changed('searchLanguages'));
    await time.advance(1);
    expect(runs).toBe(2);
    await time.advance(57);
    expect(runs).toBe(2);
    await time.advance(1);
    expect(runs).toBe(3);
    await indexing.stop();
  });
});
