import type { ChannelNotifications } from '@parley/domain/channels';
import type { MessageId, Transaction, UserId } from '@parley/domain/kernel';
import { aChannel, anotherRealm, aUser, type Fixture } from '../builders.js';
import { type OpenStorage, stagesOn } from './storage-under-test.js';

export function notificationRepositoryContract(open: OpenStorage): void {
  describe('notification repository', () => {
    const stage = stagesOn(open);
    const ids = (...numbers: readonly number[]) => numbers as MessageId[];
    const write = <T>(fixture: Fixture, work: (tx: Transaction) => Promise<T>) =>
      fixture.uow.write(fixture.realm.id, work);

    it('lists subscribers by subscription, settings and followed topics', async () => {
      const fixture = await stage(
        ...['plain', 'push', 'email', 'off', 'follower', 'muter', 'left', 'general', 'generalEmail', 'elsewhere'].map(
          (name) => aUser({ name }),
        ),
        aChannel({
          name: 'here',
          subscribers: ['plain', 'push', 'email', 'off', 'follower', 'muter', 'left', 'general', 'generalEmail'],
        }),
        aChannel({ name: 'there', subscribers: ['plain', 'elsewhere'] }),
      );
      const { id: realmId } = fixture.realm;
      const { id: channelId } = fixture.channel('here');
      await write(fixture, async (tx) => {
        const set = async (name: string, change: Partial<ChannelNotifications>, isActive = true) => {
          const userId = fixture.user(name).id;
          const [row] = (await tx.channels.listSubscriptionsOf(realmId, [userId], [channelId])).get(userId)!;
          const notifications = { ...row!.notifications, ...change };
          await tx.channels.putSubscriptions([{ ...row!, isActive, notifications }]);
        };
        for (const [name, setting] of [
          ['general', { enableChannelPushNotifications: true }],
          ['generalEmail', { enableChannelEmailNotifications: true }],
          ['elsewhere', { enableChannelPushNotifications: true }],
        ] as const) {
          const user = fixture.user(name);
          await tx.users.update({ ...user, settings: { ...user.settings, ...setting } });
        }
        await set('push', { push: true });
        await set('email', { email: true });
        await set('off', { push: false, email: false });
        await set('left', { push: true }, false);
        for (const [name, visibility] of [
          ['follower', 'followed'],
          ['muter', 'muted'],
          ['left', 'followed'],
          ['elsewhere', 'followed'],
        ] as const) {
          const { userId } = fixture.viewer(name);
          await tx.topicPolicies.put({ realmId, userId, channelId, topic: 'Topic', visibility, changedAt: 1 });
        }
      });
      const listed = async (topic: string) => {
        const found = await fixture.uow.read(realmId, (r) => r.notifications.listNotifiable(realmId, channelId, topic));
        return [...fixture.users].filter(([, { id }]) => found.includes(id)).map(([name]) => name);
      };
      expect(await listed('topic')).toEqual(['push', 'email', 'follower', 'general', 'generalEmail']);
      expect(await listed('other')).toEqual(['push', 'email', 'general', 'generalEmail']);
      const other = await anotherRealm(fixture);
      const foreign = await other.uow.read(other.realm.id, (r) =>
        r.notifications.listNotifiable(other.realm.id, channelId, 'topic'),
      );
      expect(foreign).toEqual([]);
    });

    it('lists people of a channel with many subscribers who are notified by every channel', async () => {
      const names = Array.from({ length: 101 }, (_, n) => `user ${n}`);
      const fixture = await stage(
        ...[...names, 'elsewhere'].map((name) => aUser({ name })),
        aChannel({ name: 'here', subscribers: names }),
      );
      const { id: realmId } = fixture.realm;
      await write(fixture, async (tx) => {
        for (const name of ['user 7', 'user 100', 'elsewhere']) {
          const user = fixture.user(name);
          await tx.users.update({ ...user, settings: { ...user.settings, enableChannelPushNotifications: true } });
        }
      });
      const { id } = fixture.channel('here');
      const listed = await fixture.uow.read(realmId, (r) => r.notifications.listNotifiable(realmId, id, 'topic'));
      expect(listed).toEqual([fixture.user('user 7').id, fixture.user('user 100').id]);
    });

    it('marks messages as pushed once and removes marks', async () => {
      const fixture = await stage(aUser({ name: 'a' }), aUser({ name: 'b' }));
      const { id: realmId } = fixture.realm;
      const [a, b] = [fixture.user('a').id, fixture.user('b').id];
      const add = (messageId: number, ...userIds: readonly UserId[]) =>
        write(fixture, (tx) => tx.notifications.addPushed(realmId, messageId as MessageId, userIds));
      expect(await add(7, a)).toEqual([a]);
      expect(await add(7, b, a)).toEqual([b]);
      await add(9, a);
      await add(8, a);
      const read = <T>(work: (tx: Transaction) => Promise<T>) => write(fixture, work);
      expect(await read((r) => r.notifications.listPushed(realmId, a, null))).toEqual([9, 8, 7]);
      expect(await read((r) => r.notifications.listPushed(realmId, a, ids(7, 9, 10)))).toEqual([9, 7]);
      expect(await read((r) => r.notifications.listPushed(realmId, b, ids(9)))).toEqual([]);
      expect(await read((r) => r.notifications.listPushedTo(realmId, ids(9, 7, 1)))).toEqual([
        { userId: a, messageId: 7 },
        { userId: a, messageId: 9 },
        { userId: b, messageId: 7 },
      ]);
      await write(fixture, (tx) => tx.notifications.removePushed(realmId, a, ids(7, 8, 11)));
      await write(fixture, (tx) => tx.notifications.removePushed(realmId, a, ids(7)));
      expect(await read((r) => r.notifications.listPushed(realmId, a, null))).toEqual([9]);
      expect(await read((r) => r.notifications.listPushed(realmId, b, null))).toEqual([7]);
    });

    it('isolates push marks by realm', async () => {
      const fixture = await stage(aUser({ name: 'a' }));
      const { id: userId } = fixture.user('a');
      const [messageId] = ids(7);
      await write(fixture, (tx) => tx.notifications.addPushed(fixture.realm.id, messageId!, [userId]));
      const other = (await anotherRealm(fixture)).realm.id;
      await fixture.uow.write(other, async ({ notifications }) => {
        expect(await notifications.listPushed(other, userId, null)).toEqual([]);
        expect(await notifications.listPushedTo(other, [messageId!])).toEqual([]);
        await notifications.removePushed(other, userId, [messageId!]);
      });
      const left = await fixture.uow.read(fixture.realm.id, (r) =>
        r.notifications.listPushed(fixture.realm.id, userId, null),
      );
      expect(left).toEqual([messageId]);
    });
  });
}
