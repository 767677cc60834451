import { aChannel, anotherRealm, aUser } from '../builders.js';
import { type OpenStorage, stagesOn } from './storage-under-test.js';

export function channelAddressRepositoryContract(open: OpenStorage): void {
  describe('channel address repository', () => {
    const stage = stagesOn(open);

    it('stores a token per channel, creator and sender', async () => {
      const fixture = await stage(
        aUser({ name: 'a' }),
        aUser({ name: 'b' }),
        aChannel({ name: 'one' }),
        aChannel({ name: 'two' }),
      );
      const { uow, realm, user, channel } = fixture;
      const key = (name: string, creator: string, sender: string) => ({
        realmId: realm.id,
        channelId: channel(name).id,
        creatorId: user(creator).id,
        senderId: user(sender).id,
      });
      const keys = [key('one', 'a', 'b'), key('one', 'b', 'a'), key('one', 'a', 'a'), key('two', 'a', 'b')];
      await uow.write(realm.id, async (tx) => {
        for (const [index, one] of keys.entries()) await tx.channelAddresses.add(one, `token ${index}`);
      });
      const other = await anotherRealm(fixture);
      await uow.readAcross(async ({ channelAddresses }) => {
        for (const [index, one] of keys.entries()) expect(await channelAddresses.findToken(one)).toBe(`token ${index}`);
        expect(await channelAddresses.findToken(key('two', 'b', 'a'))).toBeNull();
        expect(await channelAddresses.findToken({ ...keys[0]!, realmId: other.realm.id })).toBeNull();
        expect(await channelAddresses.findByToken('token 2')).toEqual(keys[2]);
        expect(await channelAddresses.findByToken('token 9')).toBeNull();
      });
      await uow.write(realm.id, (tx) => tx.channelAddresses.remove(keys[2]!));
      await uow.write(other.realm.id, (tx) => tx.channelAddresses.remove({ ...keys[1]!, realmId: other.realm.id }));
      await uow.read(realm.id, async ({ channelAddresses }) => {
        expect(await channelAddresses.findByToken('token 2')).toBeNull();
        expect(await channelAddresses.findByToken('token 1')).toEqual(keys[1]);
      });
      await uow.write(realm.id, (tx) => tx.channelAddresses.removeOfSender(other.realm.id, user('b').id));
      await uow.write(realm.id, (tx) => tx.channelAddresses.removeOfSender(realm.id, user('a').id));
      await uow.read(realm.id, async ({ channelAddresses }) => {
        expect(await channelAddresses.findByToken('token 1')).toBeNull();
        for (const index of [0, 3]) expect(await channelAddresses.findByToken(`token ${index}`)).toEqual(keys[index]);
      });
    });
  });
}
