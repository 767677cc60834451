import type { MessageId, RealmId } from '@parley/domain/kernel';
import { type FirstSend, MAX_REMEMBERED_SENDS } from '@parley/domain/writing';
import { anotherRealm, aUser, type Fixture } from '../builders.js';
import { type OpenStorage, stagesOn } from './storage-under-test.js';

const send = (fixture: Fixture, more: Partial<FirstSend> = {}): FirstSend => ({
  realmId: fixture.realm.id,
  userId: fixture.user('me').id,
  queueId: 'q',
  localId: '1',
  messageId: 7 as MessageId,
  digest: 'd',
  sentAt: 100,
  ...more,
});

const put = (fixture: Fixture, ...sends: readonly FirstSend[]) =>
  fixture.uow.write(fixture.realm.id, async (tx) => {
    for (const each of sends) await tx.sentOnce.put(each);
  });

const find = (fixture: Fixture, localId = '1', who = 'me', realmId = fixture.realm.id, queueId = 'q') =>
  fixture.uow.read(realmId, ({ sentOnce }) => sentOnce.find(realmId, fixture.user(who).id, { queueId, localId }));

export function sentOnceRepositoryContract(open: OpenStorage): void {
  describe('sent-once repository', () => {
    const stage = stagesOn(open);

    it('finds a send by user, queue and local id, and replaces it', async () => {
      const fixture = await stage(aUser({ name: 'me' }), aUser({ name: 'other' }));
      const changed = send(fixture, { messageId: 8 as MessageId, digest: 'e', sentAt: 200 });
      await put(fixture, send(fixture), changed);
      expect(await find(fixture)).toEqual(changed);
      expect(await find(fixture, '2')).toBeNull();
      expect(await find(fixture, '1', 'other')).toBeNull();
      expect(await find(fixture, '1', 'me', fixture.realm.id, 'r')).toBeNull();
    });

    it('finds the first message with an external id in the organization', async () => {
      const fixture = await stage(aUser({ name: 'me' }));
      const realmId = fixture.realm.id;
      const other = await anotherRealm(fixture);
      const found = (realmId: RealmId, externalId: string) =>
        fixture.uow.read(realmId, ({ sentOnce }) => sentOnce.findExternal(realmId, externalId));
      const first = { realmId, externalId: 'a', messageId: 7 as MessageId, digest: 'd' };
      const second = { ...first, messageId: 8 as MessageId, digest: 'e' };
      const earlier = { ...first, externalId: 'b', digest: null };
      for (const send of [first, second, earlier]) {
        await fixture.uow.write(realmId, (tx) => tx.sentOnce.putExternal(send));
      }
      expect(await found(realmId, 'a')).toEqual(first);
      expect(await found(realmId, 'b')).toEqual(earlier);
      expect(await found(realmId, 'A')).toBeNull();
      expect(await found(other.realm.id, 'a')).toBeNull();
    });

    it('keeps the latest sends of each user', async () => {
      const fixture = await stage(aUser({ name: 'me' }), aUser({ name: 'other' }));
      const sends = Array.from({ length: MAX_REMEMBERED_SENDS + 1 }, (_, i) =>
        send(fixture, { queueId: i % 500 < 2 ? 'q' : `q${i}`, localId: String(i), messageId: (i + 1) as MessageId }),
      );
      await put(fixture, send(fixture, { userId: fixture.user('other').id, messageId: 1 as MessageId }), ...sends);
      expect(await find(fixture, '0')).toBeNull();
      expect(await find(fixture, '1')).not.toBeNull();
      expect(await find(fixture, String(MAX_REMEMBERED_SENDS))).not.toBeNull();
      expect(await find(fixture, '1', 'other')).not.toBeNull();
    });

    it('removes a limited number of old sends, oldest first', async () => {
      const fixture = await stage(aUser({ name: 'me' }));
      const rows = [90, 80, 100].map((sentAt) => send(fixture, { localId: String(sentAt), sentAt }));
      await put(fixture, ...rows);
      await fixture.uow.write(fixture.realm.id, (tx) => tx.sentOnce.removeBefore(fixture.realm.id, 100, 1));
      expect(await find(fixture, '80')).toBeNull();
      expect(await find(fixture, '90')).not.toBeNull();
      await fixture.uow.write(fixture.realm.id, (tx) => tx.sentOnce.removeBefore(fixture.realm.id, 100, 5));
      expect(await find(fixture, '90')).toBeNull();
      expect(await find(fixture, '100')).not.toBeNull();
    });
  });
}
