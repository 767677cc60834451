import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { aChannel, aUser, createFixtureOn, FixedClock } from '@parley/testkit';
import { openSqliteStorage } from '../index.js';

it('answers the same view until something of the channel changes, whatever groups change meanwhile', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'parley-views-'));
  const clock = new FixedClock();
  const storage = openSqliteStorage({ path: join(directory, 'views.db'), clock });
  try {
    const { uow, realm, user, channel } = await createFixtureOn(
      storage.uow,
      clock,
      aUser({ name: 'iago' }),
      aUser({ name: 'prospero' }),
      aChannel({ name: 'general', creator: 'iago', subscribers: ['iago'] }),
    );
    const view = async () => (await uow.read((r) => r.channels.listViews(realm.id, [channel('general').id])))[0]!;
    const first = await view();
    expect(await view()).toBe(first);
    const { moderators } = await uow.read((r) => r.groups.systemGroupIds(realm.id));
    await uow.write((tx) => tx.groups.addMembers(realm.id, moderators, [user('prospero').id]));
    expect(await view()).toBe(first);
    const givenUp = uow.write(async (tx) => {
      await tx.channels.update({ ...channel('general'), description: 'Never' });
      await tx.channels.listViews(realm.id, [channel('general').id]);
      throw new Error('given up');
    });
    await expect(givenUp).rejects.toThrow('given up');
    expect(await view()).toBe(first);
    await uow.write((tx) => tx.channels.update({ ...channel('general'), description: 'Changed' }));
    expect(await view()).toEqual({ ...first, description: 'Changed', version: first.version + 1 });
  } finally {
    await storage.close();
    rmSync(directory, { recursive: true });
  }
});
