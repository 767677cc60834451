import type { ChannelFolder } from '@parley/domain/channels';
import { anotherRealm, aUser, type Fixture } from '../builders.js';
import { code, type OpenStorage, stagesOn } from './storage-under-test.js';

const add = ({ uow, realm, clock }: Fixture, name: string, more: Partial<ChannelFolder> = {}): Promise<ChannelFolder> =>
  uow.write(realm.id, (tx) =>
    tx.channelFolders.add({
      realmId: realm.id,
      name,
      description: '*d*',
      renderedDescription: '<p><em>d</em></p>',
      createdAt: clock.now(),
      creatorId: null,
      isArchived: false,
      ...more,
    }),
  );

const list = ({ uow, realm }: Fixture): Promise<readonly ChannelFolder[]> =>
  uow.read(realm.id, (r) => r.channelFolders.list(realm.id));

export function channelFolderRepositoryContract(open: OpenStorage): void {
  describe('channel folder repository', () => {
    const stage = stagesOn(open);

    it('stores every property of a folder and adds new ones last', async () => {
      const fixture = await stage(aUser({ name: 'a' }));
      const first = await add(fixture, 'First', { creatorId: fixture.user('a').id, isArchived: true });
      const second = await add(fixture, 'second');
      expect(first).toMatchObject({ name: 'First', order: first.id, creatorId: fixture.user('a').id });
      expect(await list(fixture)).toEqual([first, second]);
      const changed: ChannelFolder = { ...first, name: 'ärger', description: '', order: 9999, isArchived: false };
      await fixture.uow.write(changed.realmId, (tx) => tx.channelFolders.update(changed));
      expect(await list(fixture)).toEqual([second, changed]);
      await fixture.uow.read(fixture.realm.id, async ({ channelFolders }) => {
        expect(await channelFolders.find(fixture.realm.id, first.id)).toEqual(changed);
        expect(await channelFolders.findByName(fixture.realm.id, 'ÄRGER')).toEqual(changed);
        expect(await channelFolders.findByName(fixture.realm.id, 'first')).toBeNull();
      });
    });

    it('rejects a taken name, ignoring case', async () => {
      const fixture = await stage();
      const first = await add(fixture, 'First');
      const second = await add(fixture, 'Second');
      await expect(add(fixture, 'FIRST')).rejects.toEqual(code('CHANNEL_FOLDER_NAME_TAKEN'));
      const update = (folder: ChannelFolder) =>
        fixture.uow.write(folder.realmId, (tx) => tx.channelFolders.update(folder));
      await expect(update({ ...second, name: 'first' })).rejects.toEqual(code('CHANNEL_FOLDER_NAME_TAKEN'));
      await update({ ...first, name: 'FIRST' });
      expect(await list(fixture)).toMatchObject([{ name: 'FIRST' }, { name: 'Second' }]);
    });

    it('isolates realms', async () => {
      const fixture = await stage();
      const folder = await add(fixture, 'ours');
      const other = await anotherRealm(fixture);
      expect((await add(other, 'ours')).id).not.toBe(folder.id);
      await other.uow.read(other.realm.id, async ({ channelFolders }) => {
        expect(await channelFolders.find(other.realm.id, folder.id)).toBeNull();
        expect(await channelFolders.list(other.realm.id)).toHaveLength(1);
      });
    });
  });
}
