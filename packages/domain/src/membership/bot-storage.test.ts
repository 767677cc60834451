import { aUser, createFixture, intercepting } from '@parley/testkit';
import {
  MAX_BOT_STORAGE_KEYS,
  MAX_BOT_STORAGE_SIZE,
  MAX_REMOVED_AT_ONCE,
  measured,
  RemoveBotStorage,
  usageAfter,
} from './bot-storage.js';

const NOTHING = { size: 0, keys: 0 };
const none = new Map<string, number>();

describe('usageAfter', () => {
  it('counts keys and values in code points and subtracts replaced entries', () => {
    expect(usageAfter(NOTHING, [measured({ key: '𝕂', value: '𝕍v' })], none)).toEqual({ size: 3, keys: 1 });
    const replaced = new Map([['a', 9]]);
    const entries = [
      { key: 'a', value: 'b' },
      { key: 'c', value: '' },
    ];
    expect(usageAfter({ size: 10, keys: 2 }, entries.map(measured), replaced)).toEqual({ size: 4, keys: 3 });
  });

  it('accepts exactly the maximum size and rejects one more character', () => {
    const usage = { size: MAX_BOT_STORAGE_SIZE - 5, keys: 1 };
    expect(usageAfter(usage, [measured({ key: 'key', value: 'vv' })], none).size).toBe(MAX_BOT_STORAGE_SIZE);
    expect(() => usageAfter(usage, [measured({ key: 'key', value: 'vvv' })], none)).toThrow(
      'Request exceeds storage limit by 1 characters. The limit is 10000000 characters.',
    );
    expect(usageAfter(usage, [measured({ key: 'key', value: 'vvv' })], new Map([['key', 4]])).size).toBe(
      MAX_BOT_STORAGE_SIZE - 3,
    );
  });

  it('accepts exactly the maximum number of keys and rejects one more', () => {
    const usage = { size: 0, keys: MAX_BOT_STORAGE_KEYS };
    expect(() => usageAfter(usage, [measured({ key: '', value: '' })], none)).toThrow('Too many keys (limit: 100000).');
    expect(usageAfter(usage, [measured({ key: '', value: '' })], new Map([['', 0]]))).toEqual(usage);
  });
});

describe('RemoveBotStorage', () => {
  it('removes many entries in several units', async () => {
    const fixture = await createFixture(aUser({ name: 'owner' }), aUser({ name: 'bot', botOf: 'owner' }));
    const { realmId, userId } = fixture.caller('bot');
    const entries = Array.from({ length: MAX_REMOVED_AT_ONCE + 1 }, (_, n) => measured({ key: `${n}`, value: '' }));
    await fixture.uow.write(realmId, (tx) => tx.botStorage.put(realmId, userId, entries));
    let units = 0;
    const uow = intercepting(fixture.uow, {
      write: async (work, run) => {
        units++;
        return run(work);
      },
    });
    await new RemoveBotStorage(uow).execute(fixture.caller('bot'), { keys: null });
    const usage = await fixture.uow.read(realmId, (reads) => reads.botStorage.usage(realmId, userId));
    expect([units, usage]).toEqual([2, { size: 0, keys: 0 }]);
  });
});
