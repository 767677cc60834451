import type { DefaultChannelGroup } from '@parley/domain/channels';
import { aChannel, anotherRealm, type Fixture } from '../builders.js';
import { code, type OpenStorage, stagesOn } from './storage-under-test.js';

const add = ({ uow, realm }: Fixture, name: string, channelIds: DefaultChannelGroup['channelIds'] = []) =>
  uow.write(realm.id, (tx) => tx.defaultChannelGroups.add({ realmId: realm.id, name, description: 'd', channelIds }));

const list = ({ uow, realm }: Fixture): Promise<readonly DefaultChannelGroup[]> =>
  uow.read(realm.id, (r) => r.defaultChannelGroups.list(realm.id));

export function defaultChannelGroupRepositoryContract(open: OpenStorage): void {
  describe('default channel group repository', () => {
    const stage = stagesOn(open);

    it('stores groups, lists them by name and removes them', async () => {
      const fixture = await stage(aChannel({ name: 'a' }), aChannel({ name: 'b' }));
      const { uow, realm, channel } = fixture;
      const [a, b] = [channel('a').id, channel('b').id];
      const late = await add(fixture, 'late', [a, b]);
      const early = await add(fixture, 'early');
      expect(await list(fixture)).toEqual([early, late]);
      const changed = { ...early, name: 'Zoë', description: '', channelIds: [b] };
      await uow.write(changed.realmId, (tx) => tx.defaultChannelGroups.update(changed));
      await uow.read(realm.id, async ({ defaultChannelGroups }) => {
        expect(await defaultChannelGroups.list(realm.id)).toEqual([changed, late]);
        expect(await defaultChannelGroups.find(realm.id, changed.id)).toEqual(changed);
        expect(await defaultChannelGroups.findByName(realm.id, 'ZOË')).toEqual(changed);
      });
      await uow.write(realm.id, (tx) => tx.defaultChannelGroups.remove(realm.id, late.id));
      expect(await list(fixture)).toEqual([changed]);
    });

    it('rejects a taken name, ignoring case', async () => {
      const fixture = await stage();
      await add(fixture, 'First');
      const second = await add(fixture, 'Second');
      await expect(add(fixture, 'FIRST')).rejects.toEqual(code('DEFAULT_CHANNEL_GROUP_NAME_TAKEN'));
      const rename = fixture.uow.write(second.realmId, (tx) =>
        tx.defaultChannelGroups.update({ ...second, name: 'first' }),
      );
      await expect(rename).rejects.toEqual(code('DEFAULT_CHANNEL_GROUP_NAME_TAKEN'));
    });

    it('isolates realms', async () => {
      const fixture = await stage();
      const group = await add(fixture, 'ours');
      const other = await anotherRealm(fixture);
      await add(other, 'ours');
      await other.uow.write(other.realm.id, (tx) => tx.defaultChannelGroups.remove(other.realm.id, group.id));
      await other.uow.read(other.realm.id, async ({ defaultChannelGroups }) => {
        expect(await defaultChannelGroups.find(other.realm.id, group.id)).toBeNull();
      });
      expect(await list(fixture)).toEqual([group]);
    });
  });
}
