import { INHERITED_NOTIFICATIONS, PALETTE, type Subscription, type UsersOfAll } from '@parley/domain/channels';
import type { ChannelFolderId, ChannelId, RealmId } from '@parley/domain/kernel';
import { aChannel, aMessage, anotherRealm, aRealm, aUser, createFixtureOn, type Fixture } from '../builders.js';
import { code, idsOf, type OpenStorage, stagesOn } from './storage-under-test.js';

const DAY = 86_400;

const leave = (fixture: Fixture, channel: string, user: string): Promise<void> =>
  fixture.uow.write(fixture.realm.id, async (tx) => {
    const rows = await tx.channels.listSubscriptions(fixture.realm.id, fixture.user(user).id);
    const row = rows.find(({ channelId }) => channelId === fixture.channel(channel).id)!;
    await tx.channels.putSubscriptions([{ ...row, isActive: false }]);
  });

export function channelRepositoryContract(open: OpenStorage): void {
  describe('channel repository', () => {
    const stage = stagesOn(open);

    it('stores every property of a channel', async () => {
      const { uow, realm, channel, user } = await stage(
        aUser({ name: 'iago' }),
        aChannel({
          name: 'Général 🎉',
          description: 'a *b*',
          renderedDescription: '<p>a <em>b</em></p>',
          privacy: 'privateProtectedHistory',
          creator: 'iago',
          messageRetentionDays: 'forever',
          topicsPolicy: 'emptyTopicOnly',
          isDefault: true,
          isRecentlyActive: false,
        }),
        aChannel({ name: 'plain' }),
      );
      const general = channel('Général 🎉');
      expect(general).toMatchObject({ name: 'Général 🎉', version: 1, creatorId: user('iago').id });
      expect(general.recipientId).not.toBe(channel('plain').recipientId);
      expect(await uow.read(realm.id, (r) => r.channels.find(realm.id, general.id))).toEqual(general);
      expect(await uow.read(realm.id, (r) => r.channels.find(realm.id, channel('plain').id))).toEqual(channel('plain'));
      const recipients = await uow.read(realm.id, (r) => r.recipients.list(realm.id, [general.recipientId]));
      expect(recipients.get(general.recipientId)).toEqual({
        kind: 'channel',
        id: general.recipientId,
        realmId: realm.id,
        channelId: general.id,
      });
    });

    it('increments the version with each change', async () => {
      const { uow, realm, channel } = await stage(aChannel({ name: 'general' }));
      const first = await uow.write(realm.id, (tx) => tx.channels.update({ ...channel('general'), name: 'GENERAL' }));
      const change = { isArchived: true, privacy: 'privateSharedHistory' as const, folderId: 4 as ChannelFolderId };
      const second = await uow.write(first.realmId, (tx) => tx.channels.update({ ...first, ...change }));
      expect(first.version).toBeGreaterThan(1);
      expect(second.version).toBeGreaterThan(first.version);
      expect(second).toEqual({ ...channel('general'), name: 'GENERAL', ...change, version: second.version });
      expect(await uow.read(realm.id, (r) => r.channels.find(realm.id, second.id))).toEqual(second);
    });

    it('finds channels without messages since a time', async () => {
      const fixture = await stage(
        aUser({ name: 'a' }),
        aChannel({ name: 'old', subscribers: ['a'] }),
        aChannel({ name: 'said', subscribers: ['a'] }),
        aChannel({ name: 'silent' }),
        aChannel({ name: 'forgotten' }),
      );
      const { uow, realm, channel, clock } = fixture;
      const ids = ['old', 'said', 'silent', 'forgotten'].map((name) => channel(name).id);
      await uow.write(realm.id, (tx) => tx.channels.update({ ...channel('forgotten'), isRecentlyActive: false }));
      await fixture.add(aMessage({ from: 'a', to: 'old' }));
      clock.advance(10 * DAY);
      const since = clock.now();
      await fixture.add(aMessage({ from: 'a', to: 'said' }), aChannel({ name: 'new' }));
      const other = await createFixtureOn(uow, clock, aRealm({ stringId: 'other' }));
      await uow.readAcross(async ({ channels }) => {
        const all = [...ids.slice(0, 3), channel('new').id];
        expect(await channels.listRecentlyActiveIds(realm.id, null, 10)).toEqual(all);
        expect(await channels.listRecentlyActiveIds(realm.id, all[0]!, 2)).toEqual(all.slice(1, 3));
        expect(await channels.listRecentlyActiveIds(other.realm.id, null, 10)).toEqual([]);
        const [old, , silent, forgotten] = ids;
        expect(await channels.filterIdle(realm.id, [...ids, channel('new').id], since)).toEqual([
          old,
          silent,
          forgotten,
        ]);
        expect(await channels.filterIdle(realm.id, [], since)).toEqual([]);
        expect(await channels.filterIdle(other.realm.id, ids, since)).toEqual([]);
      });
    });

    it('finds notable and muted channels, and channels by a part of their name', async () => {
      const fixture = await stage(
        aUser({ name: 'a' }),
        aChannel({ name: 'First', subscribers: ['a'] }),
        aChannel({ name: 'second_%', subscribers: ['a'] }),
        aChannel({ name: 'other' }),
        aChannel({ name: 'archived', subscribers: ['a'] }),
        aChannel({ name: 'quiet' }),
        aChannel({ name: 'third', subscribers: ['a'] }),
      );
      const { uow, realm, channel, user, clock } = fixture;
      const idOf = (name: string) => channel(name).id;
      await uow.write(realm.id, async ({ channels }) => {
        await channels.update({ ...channel('archived'), isArchived: true });
        await channels.update({ ...channel('quiet'), isRecentlyActive: false });
        const row = await channels.findSubscription(realm.id, idOf('First'), user('a').id);
        await channels.putSubscriptions([{ ...row!, isPinned: true, isMuted: true }]);
      });
      const other = await createFixtureOn(uow, clock, aRealm({ stringId: 'other' }));
      await uow.readAcross(async ({ channels }) => {
        const notable = await channels.listNotableIds(realm.id, user('a').id, 2);
        const [first, second, third] = [idOf('First'), idOf('second_%'), idOf('third')];
        expect(notable).toEqual([first, third, idOf('other'), third, second, first, second]);
        expect(await channels.listNotableIds(other.realm.id, user('a').id, 2)).toEqual([]);
        expect(await channels.listMutedIds(realm.id, user('a').id)).toEqual([first]);
        expect(await channels.listMutedIds(other.realm.id, user('a').id)).toEqual([]);
        const named = (text: string, limit = 9) => channels.listIdsNamedLike(realm.id, text, limit);
        expect(await named('IR')).toEqual([first, third]);
        expect(await named('ir', 1)).toEqual([first]);
        expect(await named('_%')).toEqual([second]);
        expect(await named('a%d')).toEqual([]);
        expect(await channels.listIdsNamedLike(other.realm.id, 'ir', 9)).toEqual([]);
        expect(await channels.hasMoreThan(realm.id, 5)).toBe(true);
        expect(await channels.hasMoreThan(realm.id, 6)).toBe(false);
        expect(await channels.hasMoreThan(other.realm.id, 0)).toBe(false);
      });
    });

    it('reports whether a folder has channels, including archived ones', async () => {
      const fixture = await stage(aChannel({ name: 'general' }), aChannel({ name: 'plain' }));
      const { uow, realm, channel } = fixture;
      const [used, empty] = [4 as ChannelFolderId, 5 as ChannelFolderId];
      await uow.write(realm.id, (tx) =>
        tx.channels.update({ ...channel('general'), folderId: used, isArchived: true }),
      );
      const other = await anotherRealm(fixture);
      await uow.readAcross(async ({ channels }) => {
        expect(await channels.hasChannelsInFolder(realm.id, used)).toBe(true);
        expect(await channels.hasChannelsInFolder(realm.id, empty)).toBe(false);
        expect(await channels.hasChannelsInFolder(other.realm.id, used)).toBe(false);
      });
    });

    it('finds channels by name, ignoring case, including archived ones', async () => {
      const { uow, realm, channel } = await stage(
        aChannel({ name: 'Äther' }),
        aChannel({ name: 'old', isArchived: true }),
        aChannel({ name: 'other' }),
      );
      expect(await uow.read(realm.id, (r) => r.channels.findByName(realm.id, 'äTHER'))).toEqual(channel('Äther'));
      expect(await uow.read(realm.id, (r) => r.channels.findByName(realm.id, 'OLD'))).toEqual(channel('old'));
      expect(await uow.read(realm.id, (r) => r.channels.findByName(realm.id, 'ather'))).toBeNull();
      expect(await uow.read(realm.id, (r) => r.channels.listByName(realm.id, ['OLD', 'nothing', 'äther']))).toEqual([
        channel('Äther'),
        channel('old'),
      ]);
    });

    it('rejects a taken name, ignoring case, even of an archived channel', async () => {
      const { uow, channel } = await stage(
        aChannel({ name: 'Ärger', isArchived: true }),
        aChannel({ name: 'general' }),
      );
      const general = channel('general');
      const { id: _, recipientId: __, version: ___, ...again } = { ...general, name: 'ärGER' };
      await expect(uow.write(again.realmId, (tx) => tx.channels.add(again))).rejects.toEqual(
        code('CHANNEL_NAME_TAKEN'),
      );
      await expect(
        uow.write(general.realmId, (tx) => tx.channels.update({ ...general, name: 'ärger' })),
      ).rejects.toEqual(code('CHANNEL_NAME_TAKEN'));
      const respelt = await uow.write(general.realmId, (tx) => tx.channels.update({ ...general, name: 'General' }));
      expect(respelt.name).toBe('General');
    });

    it('lists channels ascending without unknown ids', async () => {
      const { uow, realm, channel } = await stage(
        aChannel({ name: 'c' }),
        aChannel({ name: 'b', isArchived: true }),
        aChannel({ name: 'a' }),
      );
      const [c, b, a] = [channel('c'), channel('b'), channel('a')];
      const unknown = (a.id + 1) as ChannelId;
      expect(await uow.read(realm.id, (r) => r.channels.list(realm.id, [a.id, unknown, c.id, a.id]))).toEqual([c, a]);
      expect(await uow.read(realm.id, (r) => r.channels.listAll(realm.id))).toEqual([c, b, a]);
      expect(await uow.read(realm.id, (r) => r.channels.find(realm.id, unknown))).toBeNull();
      expect(await uow.read(realm.id, (r) => r.channels.get(realm.id, a.id))).toEqual(a);
      const got = uow.read(realm.id, (r) => r.channels.get(realm.id, unknown));
      await expect(got).rejects.toMatchObject({ code: 'UNKNOWN_CHANNEL' });
    });

    it('lists views by name in code point order', async () => {
      // UTF-16 order would put the emoji before the fullwidth tilde.
      const names = ['🎉', 'b', '\uff5e', 'C', 'a'];
      const { uow, realm, channels } = await stage(...names.map((name) => aChannel({ name })));
      const unknown = 9999 as ChannelId;
      const views = await uow.read(realm.id, (r) =>
        r.channels.listViews(realm.id, [...idsOf([...channels.values()]), unknown]),
      );
      expect(views.map(({ name }) => name)).toEqual(['C', 'a', 'b', '\uff5e', '🎉']);
    });

    it('returns a channel view with permission values and the number of active subscribers', async () => {
      const fixture = await stage(
        aUser({ name: 'iago' }),
        aUser({ name: 'helper', botOf: 'iago' }),
        aUser({ name: 'gone', isActive: false }),
        aUser({ name: 'left' }),
        aChannel({ name: 'general', creator: 'iago', subscribers: ['iago', 'helper', 'gone', 'left'] }),
        aChannel({ name: 'empty' }),
      );
      const { uow, realm, channel, user } = fixture;
      await leave(fixture, 'general', 'left');
      const general = channel('general');
      const [view] = await uow.read(realm.id, (r) => r.channels.listViews(realm.id, [general.id]));
      expect(view).toEqual({
        ...general,
        permissions: {
          ...general.permissions,
          canAdministerChannel: { directMembers: [user('iago').id], directSubgroups: [] },
        },
        sendersSystemGroup: 'everyone',
        subscriberCount: 2,
        weeklyTraffic: null,
      });
      const counts = await uow.read(realm.id, (r) =>
        Promise.all([
          r.channels.countSubscribers(realm.id, general.id),
          r.channels.countSubscribers(realm.id, channel('empty').id),
        ]),
      );
      expect(counts).toEqual([2, 0]);
    });

    it('returns a current view after earlier views', async () => {
      const fixture = await stage(
        aUser({ name: 'iago' }),
        aUser({ name: 'prospero' }),
        aChannel({ name: 'general', creator: 'iago', subscribers: ['iago'] }),
      );
      const { uow, realm, channel, user } = fixture;
      const view = async () =>
        (await uow.read(realm.id, (r) => r.channels.listViews(realm.id, [channel('general').id])))[0]!;
      const administrators = async () => (await view()).permissions.canAdministerChannel;
      const both = [user('iago').id, user('prospero').id];
      expect(await administrators()).toEqual({ directMembers: [user('iago').id], directSubgroups: [] });
      await uow.write(realm.id, (tx) => tx.users.update({ ...user('iago'), isActive: false }));
      expect(await administrators()).toEqual({ directMembers: [], directSubgroups: [] });
      await uow.write(realm.id, (tx) => tx.users.update({ ...user('iago'), isActive: true }));
      expect(await administrators()).toEqual({ directMembers: [user('iago').id], directSubgroups: [] });
      const groupId = channel('general').permissions.canAdministerChannel;
      await uow.write(realm.id, (tx) => tx.groups.addMembers(realm.id, groupId, [user('prospero').id]));
      expect(await administrators()).toEqual({ directMembers: both, directSubgroups: [] });
      await uow.write(realm.id, (tx) => tx.channels.update({ ...channel('general'), description: 'Changed' }));
      expect(await view()).toMatchObject({ description: 'Changed', subscriberCount: 1 });
      await leave(fixture, 'general', 'iago');
      expect(await view()).toMatchObject({ description: 'Changed', subscriberCount: 0 });
    });

    it('returns the posting system group if older clients know it', async () => {
      const { uow, realm, channel } = await stage(aChannel({ name: 'general' }));
      const system = await uow.read(realm.id, (r) => r.groups.systemGroupIds(realm.id));
      const sendersWhen = async (name: keyof typeof system) => {
        const { permissions, ...general } = channel('general');
        await uow.write(general.realmId, (tx) =>
          tx.channels.update({ ...general, permissions: { ...permissions, canSendMessage: system[name] } }),
        );
        const [view] = await uow.read(realm.id, (r) => r.channels.listViews(realm.id, [general.id]));
        return view!.sendersSystemGroup;
      };
      expect(await sendersWhen('administrators')).toBe('administrators');
      expect(await sendersWhen('fullMembers')).toBe('fullMembers');
      expect(await sendersWhen('moderators')).toBe('moderators');
      expect(await sendersWhen('owners')).toBeNull();
      expect(await sendersWhen('nobody')).toBeNull();
    });

    it('counts the traffic of the last 28 days once a channel is a week old', async () => {
      const { uow, realm, channel, clock } = await stage(
        aUser({ name: 'iago' }),
        aChannel({ name: 'general' }),
        ...Array.from({ length: 9 }, () => aMessage({ from: 'iago', to: 'general' })),
      );
      const traffic = () =>
        uow.read(
          realm.id,
          async (r) => (await r.channels.listViews(realm.id, [channel('general').id]))[0]!.weeklyTraffic,
        );
      expect(await traffic()).toBeNull();
      clock.advance(27 * DAY);
      expect(await traffic()).toBe(2);
      clock.advance(2 * DAY);
      expect(await traffic()).toBe(0);
    });

    it('keeps subscription settings when a user unsubscribes and resubscribes', async () => {
      const { uow, realm, channel, user } = await stage(
        aUser({ name: 'iago' }),
        aChannel({ name: 'general' }),
        aChannel({ name: 'random' }),
      );
      const row: Subscription = {
        realmId: realm.id,
        channelId: channel('random').id,
        userId: user('iago').id,
        isActive: false,
        color: '#76ce90',
        isMuted: true,
        isPinned: true,
        notifications: { desktop: true, audible: false, push: null, email: true, wildcardMentions: false },
      };
      const other: Subscription = {
        ...row,
        channelId: channel('general').id,
        isActive: true,
        isMuted: false,
        notifications: INHERITED_NOTIFICATIONS,
      };
      await uow.write(row.realmId, (tx) => tx.channels.putSubscriptions([row, other]));
      const rows = () => uow.read(realm.id, (r) => r.channels.listSubscriptions(realm.id, row.userId));
      expect(await rows()).toEqual([other, row]);
      await uow.write(row.realmId, (tx) => tx.channels.putSubscriptions([{ ...row, isActive: true, isPinned: false }]));
      expect(await rows()).toEqual([other, { ...row, isActive: true, isPinned: false }]);
    });

    it('returns an entry for each user, ascending', async () => {
      const { uow, realm, user, channel } = await stage(
        aUser({ name: 'a' }),
        aUser({ name: 'b' }),
        aUser({ name: 'c' }),
        aChannel({ name: 'general', subscribers: ['c', 'a'] }),
        aChannel({ name: 'random', subscribers: ['a'] }),
      );
      const ids = [user('c').id, user('b').id, user('a').id];
      const channels = [channel('general').id, channel('random').id];
      const rows = await uow.read(realm.id, (r) => r.channels.listSubscriptionsOf(realm.id, ids, channels));
      const each = await uow.read(realm.id, (r) =>
        Promise.all([...ids].reverse().map(async (id) => [id, await r.channels.listSubscriptions(realm.id, id)])),
      );
      expect([...rows]).toEqual(each);
      expect(rows.get(user('a').id)).toHaveLength(2);
      expect(rows.get(user('b').id)).toEqual([]);
      const ofRandom = await uow.read(realm.id, (r) =>
        r.channels.listSubscriptionsOf(realm.id, ids, [channel('random').id]),
      );
      expect([...ofRandom.values()].map((each) => each.map(({ userId }) => userId))).toEqual([[user('a').id], [], []]);
    });

    it("lists the colors of a user's subscriptions", async () => {
      const { uow, realm, user } = await stage(
        ...['a', 'b', 'c'].map((name) => aUser({ name })),
        ...['one', 'two', 'three'].map((name) => aChannel({ name, subscribers: ['a', 'c'] })),
      );
      const ids = [user('c').id, user('b').id, user('a').id];
      await uow.write(realm.id, async (tx) => {
        const [first, ...rest] = await tx.channels.listSubscriptions(realm.id, user('a').id);
        await tx.channels.putSubscriptions([
          { ...first!, color: '#000000', isActive: false },
          ...rest.map((row) => ({ ...row, color: '#ffffff' })),
        ]);
      });
      const colors = await uow.read(realm.id, (r) => r.channels.listColors(realm.id, ids, PALETTE));
      expect([...colors.get(user('a').id)!].sort()).toEqual(['#000000', '#ffffff']);
      expect(colors.get(user('c').id)?.length).toBeGreaterThan(0);
      expect(colors.has(user('b').id)).toBe(false);
    });

    it('lists every color of users who lack colors of the palette in their first rows', async () => {
      const names = Array.from({ length: 60 }, (_, n) => `channel ${n}`);
      const { uow, realm, user } = await stage(
        aUser({ name: 'a' }),
        ...names.map((name) => aChannel({ name, subscribers: ['a'] })),
      );
      const { id } = user('a');
      await uow.write(realm.id, async (tx) => {
        const rows = await tx.channels.listSubscriptions(realm.id, id);
        const colorOf = (n: number) => (n < 50 ? PALETTE[0]! : PALETTE[n - 50 + 1]!);
        await tx.channels.putSubscriptions(rows.map((row, n) => ({ ...row, color: colorOf(n) })));
      });
      const colors = await uow.read(realm.id, (r) => r.channels.listColors(realm.id, [id], PALETTE));
      expect(new Set(colors.get(id))).toEqual(new Set(PALETTE.slice(0, 11)));
    });

    it('lists default channels without archived ones', async () => {
      const { uow, realm, channel } = await stage(
        aChannel({ name: 'second', isDefault: true }),
        aChannel({ name: 'other' }),
        aChannel({ name: 'first', isDefault: true }),
        aChannel({ name: 'gone', isDefault: true, isArchived: true }),
      );
      const defaults = await uow.read(realm.id, (r) => r.channels.listDefaults(realm.id));
      expect(defaults).toEqual([channel('second'), channel('first')]);
    });

    it('lists current subscribers by channel', async () => {
      const fixture = await stage(
        aUser({ name: 'a' }),
        aUser({ name: 'gone', isActive: false }),
        aUser({ name: 'b' }),
        aChannel({ name: 'random', subscribers: ['b', 'a'] }),
        aChannel({ name: 'general', subscribers: ['b', 'gone', 'a'] }),
        aChannel({ name: 'empty' }),
      );
      const { uow, realm, channel, user } = fixture;
      await leave(fixture, 'random', 'a');
      const [general, random, empty] = [channel('general').id, channel('random').id, channel('empty').id];
      const [a, b] = [user('a').id, user('b').id];
      await uow.read(realm.id, async (r) => {
        const subscribers = await r.channels.listSubscribers(realm.id, [general, empty, random]);
        expect(new Map(subscribers)).toEqual(
          new Map([
            [general, [a, b]],
            [empty, []],
            [random, [b]],
          ]),
        );
        expect(await r.channels.isSubscribed(realm.id, general, a)).toBe(true);
        expect(await r.channels.isSubscribed(realm.id, random, a)).toBe(false);
        expect(await r.channels.isSubscribed(realm.id, empty, a)).toBe(false);
        expect(await r.channels.findSubscription(realm.id, general, a)).toMatchObject({ userId: a, isActive: true });
        expect(await r.channels.findSubscription(realm.id, random, a)).toMatchObject({ isActive: false });
        expect(await r.channels.findSubscription(realm.id, empty, a)).toBeNull();
        expect(await r.channels.listSubscribedIds(realm.id, a)).toEqual([general]);
        expect(await r.channels.listSubscribedIds(realm.id, b)).toEqual([random, general]);
        expect(await r.channels.filterSubscribed(realm.id, random, [b, a])).toEqual([b]);
        expect(await r.channels.filterSubscribed(realm.id, general, [b, a, b])).toEqual([a, b]);
      });
    });

    it('reports whether there is an active web-public channel', async () => {
      const fixture = await stage(
        aChannel({ name: 'office', privacy: 'public' }),
        aChannel({ name: 'old lobby', privacy: 'webPublic', isArchived: true }),
      );
      const { uow, realm } = fixture;
      const other = await anotherRealm(fixture, aChannel({ name: 'x', privacy: 'webPublic' }));
      const hasWebPublic = (id = realm.id) => uow.read(id, (r) => r.channels.hasWebPublic(id));
      const webPublicIds = () => uow.read(realm.id, (r) => r.channels.listWebPublicIds(realm.id));
      expect(await hasWebPublic()).toBe(false);
      expect(await webPublicIds()).toEqual([fixture.channel('old lobby').id]);
      expect(await hasWebPublic(other.realm.id)).toBe(true);
      await fixture.add(aChannel({ name: 'lobby', privacy: 'webPublic' }));
      expect(await hasWebPublic()).toBe(true);
      expect(await webPublicIds()).toEqual([fixture.channel('old lobby').id, fixture.channel('lobby').id]);
    });

    it('returns the channels to which guests subscribe', async () => {
      const fixture = await stage(
        aUser({ name: 'member' }),
        aUser({ name: 'guest', role: 'guest' }),
        aChannel({ name: 'lobby', subscribers: ['member', 'guest'] }),
        aChannel({ name: 'left', subscribers: ['guest'] }),
        aChannel({ name: 'office', subscribers: ['member'] }),
      );
      const ids = ['office', 'lobby', 'left', 'lobby'].map((name) => fixture.channel(name).id);
      await leave(fixture, 'left', 'guest');
      const subscribed = await fixture.uow.read(fixture.realm.id, (r) =>
        r.channels.filterWithGuestSubscribers(fixture.realm.id, ids),
      );
      expect(subscribed).toEqual([fixture.channel('lobby').id]);
    });

    it('leaves message delivery unchanged when it stores subscriptions', async () => {
      const fixture = await stage(
        aUser({ name: 'a' }),
        aUser({ name: 'b' }),
        aChannel({ name: 'general', subscribers: ['a', 'b'] }),
      );
      const { uow, realm, channel, user, viewer } = fixture;
      await uow.write(realm.id, async (tx) => {
        const people = [user('a').id, user('b').id];
        const rows = await tx.channels.listSubscriptionsOf(realm.id, people, [channel('general').id]);
        await tx.personal.closeSpans(realm.id, [channel('general').recipientId], [user('a').id]);
        await tx.channels.putSubscriptions([...rows.values()].flat());
      });
      await fixture.add(aMessage({ from: 'b', to: 'general' }));
      const ids = idsOf(fixture.messages);
      expect((await uow.read(realm.id, (r) => r.personal.listFlags(viewer('a'), ids))).size).toBe(0);
      expect((await uow.read(realm.id, (r) => r.personal.listFlags(viewer('b'), ids))).size).toBe(1);
    });

    it('finds the channel of the realm if another realm uses the same name', async () => {
      const fixture = await stage(aChannel({ name: 'general' }));
      const { uow, realm, channel } = fixture;
      const other = await anotherRealm(fixture, aChannel({ name: 'General' }));
      const byName = (realmId: RealmId) =>
        uow.read(realmId, async ({ channels }) => [
          (await channels.findByName(realmId, 'general'))?.id,
          ...idsOf(await channels.listByName(realmId, ['general'])),
        ]);
      const { id } = channel('general');
      expect(await byName(realm.id)).toEqual([id, id]);
      const { id: otherId } = other.channel('General');
      expect(await byName(other.realm.id)).toEqual([otherId, otherId]);
    });

    it('finds channels to which all of the users are subscribed', async () => {
      const { uow, realm, channel, user } = await stage(
        aUser({ name: 'a' }),
        aUser({ name: 'gone', isActive: false }),
        aUser({ name: 'bot' }),
        aChannel({ name: 'room', subscribers: ['a', 'gone', 'bot'] }),
        aChannel({ name: 'both', subscribers: ['a', 'gone'] }),
        aChannel({ name: 'one', subscribers: ['a', 'bot'] }),
        aChannel({ name: 'empty' }),
      );
      const channelIds = ['empty', 'one', 'both', 'room'].map((name) => channel(name).id);
      const find = (users: UsersOfAll) =>
        uow.read(realm.id, async (r) =>
          (await r.channels.list(realm.id, await r.channels.filterWithAll(realm.id, channelIds, users)))
            .map(({ name }) => name)
            .sort(),
        );
      const room = channel('room').id;
      expect(await find({ subscribersOf: room, except: user('bot').id })).toEqual(['both', 'room']);
      expect(await find([user('a').id])).toEqual(['both', 'one', 'room']);
      expect(await find([user('a').id, user('gone').id])).toEqual(['both', 'room']);
      expect(await find([])).toEqual(['both', 'empty', 'one', 'room']);
    });

    it('isolates realms', async () => {
      const fixture = await stage(
        aUser({ name: 'a', role: 'guest' }),
        aChannel({ name: 'general', subscribers: ['a'] }),
      );
      const { uow, channel, user } = fixture;
      const other = (await anotherRealm(fixture, aChannel({ name: 'General' }))).realm.id;
      const { id } = channel('general');
      const a = user('a').id;
      const found = await uow.read(other, async (r) => [
        await r.channels.find(other, id),
        await r.channels.list(other, [id]),
        await r.channels.listViews(other, [id]),
        idsOf(await r.channels.listByName(other, ['general'])).includes(id),
        await r.channels.isSubscribed(other, id, a),
        await r.channels.listSubscribedIds(other, a),
        await r.channels.listSubscriptions(other, a),
        [...(await r.channels.listSubscribers(other, [id])).values()],
        await r.channels.filterSubscribed(other, id, [a]),
        await r.channels.filterWithGuestSubscribers(other, [id]),
        await r.channels.countSubscribers(other, id),
        await r.channels.filterWithAll(other, [id], [a]),
      ]);
      expect(found).toEqual([null, [], [], false, false, [], [], [[]], [], [], 0, []]);
    });
  });
}
