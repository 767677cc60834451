import type { ChannelId } from '@parley/domain/kernel';
import { type BotOptions, NO_BOT_OPTIONS } from '@parley/domain/membership';
import { anotherRealm, aUser, type Fixture } from '../builders.js';
import { type OpenStorage, stagesOn } from './storage-under-test.js';

const pieces = [
  aUser({ name: 'a' }),
  aUser({ name: 'b' }),
  aUser({ name: 'one', botOf: 'a' }),
  aUser({ name: 'two', botOf: 'b' }),
  aUser({ name: 'three', botOf: 'a', isActive: false }),
];
const OPTIONS: BotOptions = {
  eventsChannelId: 7 as ChannelId,
  allPublicChannels: true,
  webhook: { url: 'https://example.com/"', interface: 'slack', token: 'token' },
};

export function botRepositoryContract(open: OpenStorage): void {
  describe('bot repository', () => {
    const stage = stagesOn(open);
    const listed = (fixture: Fixture, ...names: readonly string[]) =>
      fixture.uow.read(fixture.realm.id, async ({ bots }) => {
        const ids = names.map((name) => fixture.user(name).id);
        const options = await bots.listOptions(fixture.realm.id, ids);
        return ids.map((id) => options.get(id));
      });
    const put = (fixture: Fixture, name: string, options: BotOptions) =>
      fixture.uow.write(fixture.realm.id, (tx) => tx.bots.putOptions(fixture.realm.id, fixture.user(name).id, options));

    it('stores the options of each bot with defaults for bots without any', async () => {
      const fixture = await stage(...pieces);
      await put(fixture, 'one', OPTIONS);
      expect(await listed(fixture, 'two', 'one')).toEqual([NO_BOT_OPTIONS, OPTIONS]);
      const changed = { ...OPTIONS, eventsChannelId: null, webhook: null };
      await put(fixture, 'one', changed);
      expect(await listed(fixture, 'one', 'two')).toEqual([changed, NO_BOT_OPTIONS]);
      expect(await listed(fixture)).toEqual([]);
    });

    it('lists the bots of an owner including deactivated ones', async () => {
      const fixture = await stage(...pieces);
      const owned = (name: string) =>
        fixture.uow.read(fixture.realm.id, ({ bots }) => bots.listOwnedIds(fixture.realm.id, fixture.user(name).id));
      expect(await owned('a')).toEqual([fixture.user('one').id, fixture.user('three').id]);
      expect(await owned('b')).toEqual([fixture.user('two').id]);
      expect(await owned('one')).toEqual([]);
    });

    it('isolates realms', async () => {
      const fixture = await stage(...pieces);
      const { id } = fixture.user('one');
      await put(fixture, 'one', OPTIONS);
      const other = (await anotherRealm(fixture)).realm.id;
      await fixture.uow.write(other, async ({ bots }) => {
        expect((await bots.listOptions(other, [id])).get(id)).toEqual(NO_BOT_OPTIONS);
        expect(await bots.listOwnedIds(other, fixture.user('a').id)).toEqual([]);
      });
    });
  });
}
