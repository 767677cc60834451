import { ROW_TABLES } from '@parley/storage';
import { aChannel, aUser, createFixture } from './builders.js';
import { storageContracts } from './contracts/all-contracts.js';
import { blobStoreContract } from './contracts/blob-store.contract.js';
import { MemoryBlobStore } from './memory-blob-store.js';
import { MemoryStorage } from './memory-storage.js';

describe('MemoryBlobStore', () =>
  blobStoreContract(async () => ({ store: new MemoryBlobStore({ nowMs: () => 2e12 }), close: async () => {} })));

describe('MemoryStorage', () => {
  storageContracts((clock) => {
    const { uow, damage } = new MemoryStorage(clock);
    return { uow, damage, refusesYielding: true, close: async () => {} };
  }, ROW_TABLES);

  it('exposes published events and counts commits', async () => {
    const { storage, uow, realm } = await createFixture(aUser({ name: 'iago' }));
    const commits = storage.commits;
    const announcement = { event: { type: 'blank' }, audience: { kind: 'realm' } } as const;
    await uow.write(realm.id, (tx) => tx.events.append(realm.id, announcement));
    await expect(
      uow.write(realm.id, async (tx) => {
        await tx.events.append(realm.id, announcement);
        throw new Error('no');
      }),
    ).rejects.toThrow('no');
    expect(storage.announced).toMatchObject([announcement]);
    expect(storage.commits).toBe(commits + 1);
  });

  it('closes repositories when their transaction ends', async () => {
    const { uow, realm, channel } = await createFixture(aChannel({ name: 'general' }));
    const kept = await uow.write(realm.id, async (tx) => tx);
    await expect(kept.channels.update(channel('general'))).rejects.toThrow('ended');
    await expect(kept.realms.get(realm.id)).rejects.toThrow('ended');
  });
});
