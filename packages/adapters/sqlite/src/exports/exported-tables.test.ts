import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EXPORT_PARTS } from '@parley/domain/composition';
import { aChannel, aMessage, aUser, createFixtureOn, FixedClock, MemoryBlobStore } from '@parley/testkit';
import { RealmReader } from '@parley/transfer/exports';
import { FEATURES } from '../features.js';
import { openSqliteStorage } from '../index.js';

it('reads every table of an organization into an export, unless its feature states why not', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'parley-exported-tables-'));
  const clock = new FixedClock();
  const statements: string[] = [];
  const storage = openSqliteStorage({ path: join(directory, 'a.db'), clock, trace: (sql) => statements.push(sql) });
  const { realm, user, messages } = await createFixtureOn(
    storage.uow,
    clock,
    aUser({ name: 'Hamlet', avatar: { source: 'uploaded', key: 'a', version: 1 } as never }),
    aChannel({ name: 'town', subscribers: ['Hamlet'] }),
    aMessage({ from: 'Hamlet', to: 'town' }),
  );
  await storage.uow.write(realm.id, async (tx) => {
    const [userId, messageId] = [user('Hamlet').id, messages[0]!.id];
    await tx.reactions.add(realm.id, messageId, { userId, type: 'unicode', code: '1f44d', name: '+1' });
    const editedAt = clock.now();
    await tx.edits.add(realm.id, { userId, editedAt, topic: null, channelId: null }, [messageId], messageId);
    await tx.messages.edit(realm.id, messageId, { ...messages[0]!, content: 'b', editedAt, exceptions: new Map() });
  });
  statements.length = 0;
  const reader = new RealmReader(storage.uow, new MemoryBlobStore(clock), EXPORT_PARTS);
  const source = await reader.open(realm.id, { covers: 'all' });
  const parts = [source.people(), source.messages(), source.files(), source.avatars(), source.emojiPictures()];
  for (const part of parts) for await (const _ of part);
  await storage.close();
  rmSync(directory, { recursive: true });

  const read = new Set(statements.flatMap((sql) => sql.match(/\w+/g) ?? []));
  const unread = FEATURES.flatMap(({ realmTables = [] }) => realmTables).filter((table) => !read.has(table));
  const explained = FEATURES.flatMap(({ notExported = {} }) => Object.keys(notExported));
  expect(explained.sort()).toEqual(unread.sort());
});
