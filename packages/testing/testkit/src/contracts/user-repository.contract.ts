import type { EventSeq, UserId } from '@parley/domain/kernel';
import type { User } from '@parley/domain/users';
import { aChannel, aMessage, anotherRealm, aRealm, aUser, createFixtureOn } from '../builders.js';
import { appendEvent } from '../events-with-receivers.js';
import { ascending, code, idsOf, type OpenStorage, SEED, stagesOn } from './storage-under-test.js';

export function userRepositoryContract(open: OpenStorage): void {
  describe('user repository', () => {
    const stage = stagesOn(open);

    it('stores every property of a user', async () => {
      const { uow, realm, user } = await stage(
        aUser({
          name: 'iago',
          fullName: 'Iago 🎭 शिव',
          email: 'Iago@Example.com',
          role: 'administrator',
          isActive: false,
          avatar: { source: 'uploaded', version: 3, key: 'a'.repeat(32) },
          specialPermissions: ['canCreateUsers', 'canChangeUserEmails'],
        }),
        aUser({ name: 'helper', botOf: 'iago' }),
      );
      const iago = user('iago');
      expect(iago).toMatchObject({ email: 'Iago@Example.com', fullName: 'Iago 🎭 शिव', version: 1, isActive: false });
      expect(await uow.read(realm.id, (r) => r.users.find(realm.id, iago.id))).toEqual(iago);
      const helper = await uow.read(realm.id, (r) => r.users.find(realm.id, user('helper').id));
      expect(helper).toEqual(user('helper'));
      expect(helper!.bot).toEqual({
        kind: 'generic',
        ownerId: iago.id,
        isSystem: false,
        defaultSendingChannelId: null,
      });
    });

    it('increments the version with each change', async () => {
      const { uow, realm, user } = await stage(aUser({ name: 'iago' }));
      const first = await uow.write(realm.id, (tx) => tx.users.update({ ...user('iago'), role: 'guest' }));
      const settings = { ...first.settings, twentyFourHourTime: null, timezone: 'Asia/Kolkata' };
      const editedSettings = ['timezone', 'enterSends'] as const;
      const second = await uow.write(first.realmId, (tx) =>
        tx.users.update({ ...first, settings, editedSettings, isDeleted: true }),
      );
      expect(first.version).toBeGreaterThan(1);
      expect(second.version).toBeGreaterThan(first.version);
      expect(second).toEqual({
        ...user('iago'),
        role: 'guest',
        settings,
        editedSettings,
        isDeleted: true,
        version: second.version,
      });
      expect(await uow.read(realm.id, (r) => r.users.find(realm.id, second.id))).toEqual(second);
      expect(await uow.read(realm.id, (r) => r.users.listEntries(realm.id))).toEqual([
        { id: second.id, version: second.version, isActive: true },
      ]);
    });

    it('finds users by email, ignoring case, including bots and deactivated users', async () => {
      const { uow, realm, user } = await stage(
        aUser({ name: 'iago', email: 'Iago@Example.com', isActive: false }),
        aUser({ name: 'helper', botOf: 'iago', email: 'ÄRGER-bot@example.com' }),
      );
      expect(await uow.read(realm.id, (r) => r.users.findByEmail(realm.id, 'iAGO@example.COM'))).toEqual(user('iago'));
      expect(await uow.read(realm.id, (r) => r.users.findByEmail(realm.id, 'ärger-BOT@example.com'))).toEqual(
        user('helper'),
      );
      expect(await uow.read(realm.id, (r) => r.users.findByEmail(realm.id, 'nobody@example.com'))).toBeNull();
      const emails = ['HELPER@example.com', '  iago@EXAMPLE.com ', 'ärger-bot@example.com', 'nobody@example.com'];
      const found = await uow.read(realm.id, (r) => r.users.listByEmail(realm.id, emails));
      expect(ascending(idsOf(found))).toEqual([user('iago').id, user('helper').id]);
    });

    it('rejects a taken email, ignoring case, within the realm', async () => {
      const fixture = await stage(aUser({ name: 'iago', email: 'Iago@Example.com' }));
      const { uow } = fixture;
      const namesake = aUser({ name: 'other', email: 'iago@example.com' });
      const again = uow.writeAcross(async (tx) => {
        const [realm] = await tx.realms.list();
        const { id: _, version: __, ...iago } = (await tx.users.findByEmail(realm!.id, 'iago@example.com'))!;
        return tx.users.add({ ...iago, email: 'IAGO@example.com' }, null);
      });
      await expect(again).rejects.toEqual(code('EMAIL_TAKEN'));
      const other = await anotherRealm(fixture, namesake);
      expect(other.user('other').email).toBe('iago@example.com');
    });

    it('separates system bots from realm members', async () => {
      const { uow, realm, user } = await stage(aUser({ name: 'iago' }));
      const bots = await uow.read(realm.id, (r) => r.users.listSystemBots(realm.id));
      expect(bots.map(({ fullName }) => fullName)).toEqual(['Notification Bot', 'Welcome Bot', 'Email Gateway']);
      expect(idsOf(bots)).toEqual(ascending(idsOf(bots)));
      const welcome = await uow.read(realm.id, (r) => r.users.findSystemBot(realm.id, 'welcome'));
      expect(welcome).toEqual(bots[1]);

      expect(await uow.read(realm.id, (r) => r.users.find(realm.id, welcome.id))).toBeNull();
      const got = uow.read(realm.id, (r) => r.users.get(realm.id, welcome.id));
      await expect(got).rejects.toMatchObject({ code: 'UNKNOWN_USER' });
      expect(await uow.read(realm.id, (r) => r.users.findByEmail(realm.id, welcome.email))).toBeNull();
      expect(idsOf(await uow.read(realm.id, (r) => r.users.listEntries(realm.id)))).toEqual([user('iago').id]);
      expect(await uow.read(realm.id, (r) => r.users.list(realm.id, [user('iago').id, welcome.id]))).toEqual([
        welcome,
        user('iago'),
      ]);
      expect(await uow.read(realm.id, (r) => r.users.listByName(realm.id, ['WELCOME bot']))).toEqual([welcome]);
      expect(await uow.read(realm.id, (r) => r.users.listByEmail(realm.id, [welcome.email.toUpperCase()]))).toEqual([
        welcome,
      ]);
    });

    it('lists users ascending without unknown ids', async () => {
      const { uow, realm, user } = await stage(
        aUser({ name: 'a' }),
        aUser({ name: 'b', isActive: false }),
        aUser({ name: 'c', botOf: 'a' }),
      );
      const [a, b, c] = [user('a'), user('b'), user('c')];
      const unknown = (c.id + 1) as UserId;
      expect(await uow.read(realm.id, (r) => r.users.list(realm.id, [c.id, unknown, a.id, c.id]))).toEqual([a, c]);
      expect(await uow.read(realm.id, (r) => r.users.list(realm.id, []))).toEqual([]);
      expect(await uow.read(realm.id, (r) => r.users.listEntries(realm.id))).toEqual([
        { id: a.id, version: 1, isActive: true },
        { id: b.id, version: 1, isActive: false },
        { id: c.id, version: 1, isActive: true },
      ]);
      const systemBotId = (await uow.read(realm.id, (r) => r.users.findSystemBot(realm.id, 'welcome'))).id;
      expect(
        await uow.read(realm.id, (r) => r.users.listSomeEntries(realm.id, [c.id, systemBotId, unknown, b.id, c.id])),
      ).toEqual([
        { id: b.id, version: 1, isActive: false },
        { id: c.id, version: 1, isActive: true },
      ]);
      expect(await uow.read(realm.id, (r) => r.users.find(realm.id, unknown))).toBeNull();
    });

    it('lists all users except guests, and users by a part of their name', async () => {
      const { uow, realm, user } = await stage(
        aUser({ name: 'Ann_' }),
        aUser({ name: 'joann', role: 'guest' }),
        aUser({ name: 'bob', isActive: false }),
        aUser({ name: 'bobby' }),
      );
      await uow.read(realm.id, async ({ users }) => {
        expect(await users.listMemberEntries(realm.id)).toEqual([
          { id: user('Ann_').id, version: 1, isActive: true },
          { id: user('bob').id, version: 1, isActive: false },
          { id: user('bobby').id, version: 1, isActive: true },
        ]);
        expect(await users.listIdsNamedLike(realm.id, 'bob', 9)).toEqual([user('bobby').id, user('bob').id]);
        expect(await users.listIdsNamedLike(realm.id, 'aNN', 9)).toEqual([user('Ann_').id, user('joann').id]);
        expect(await users.listIdsNamedLike(realm.id, 'ann', 1)).toEqual([user('Ann_').id]);
        expect(await users.listIdsNamedLike(realm.id, 'n_', 9)).toEqual([user('Ann_').id]);
        expect(await users.listIdsNamedLike(realm.id, 'welcome', 9)).toEqual([]);
      });
    });

    it('lists active users including bots but excluding system bots, ascending by id', async () => {
      const fixture = await stage(
        aUser({ name: 'a' }),
        aUser({ name: 'b', isActive: false }),
        aUser({ name: 'c', botOf: 'a' }),
        aUser({ name: 'd' }),
      );
      const { uow, realm, user } = fixture;
      const [a, b, c] = [user('a').id, user('b').id, user('c').id];
      const welcome = await uow.read(realm.id, (r) => r.users.findSystemBot(realm.id, 'welcome'));
      const elsewhere = (await anotherRealm(fixture, aUser({ name: 'e' }))).user('e').id;
      const unknown = (elsewhere + 100) as UserId;
      const ids = [unknown, elsewhere, c, welcome.id, b, a, c];
      expect(await uow.read(realm.id, (r) => r.users.listActiveIds(realm.id, ids))).toEqual([a, c]);
      expect(await uow.read(realm.id, (r) => r.users.listActiveIds(realm.id, []))).toEqual([]);
    });

    it('lists users and bots by name, ignoring case', async () => {
      const { uow, realm, user } = await stage(
        aUser({ name: 'a', fullName: 'Zoé' }),
        aUser({ name: 'b', fullName: 'Iago' }),
        aUser({ name: 'c', fullName: 'ZOÉ', botOf: 'a' }),
        aUser({ name: 'd', fullName: 'Zoéx' }),
      );
      const found = await uow.read(realm.id, (r) => r.users.listByName(realm.id, ['iago', 'zoé', 'nobody']));
      expect(found).toEqual([user('a'), user('b'), user('c')]);
    });

    it('compares names by their NFKC case-folded form', async () => {
      const { uow, realm, user } = await stage(
        aUser({ name: 'a', fullName: 'Ångström', isActive: false }),
        aUser({ name: 'b', fullName: 'ﬁne bot', botOf: 'a' }),
      );
      const isTaken = (name: string, except: User | null = null) =>
        uow.read(realm.id, (r) => r.users.isNameTaken(realm.id, name, except?.id ?? null));
      expect(await isTaken('A\u030aNGSTRO\u0308M')).toBe(true);
      expect(await isTaken('ångström', user('a'))).toBe(false);
      expect(await isTaken('ångström', user('b'))).toBe(true);
      expect(await isTaken('FINE BOT')).toBe(true);
      expect(await isTaken('Angstrom')).toBe(false);
    });

    it('lists users who share a channel or conversation with a user', async () => {
      const { uow, realm, user, users, channel } = await stage(
        ...['me', 'fellow', 'former', 'pal', 'mate1', 'mate2', 'leaver', 'unrelated'].map((name) => aUser({ name })),
        aUser({ name: 'gone', isActive: false }),
        aUser({ name: 'gonePal', isActive: false }),
        aChannel({ name: 'general', subscribers: ['me', 'fellow', 'leaver', 'gone'] }),
        aMessage({ from: 'gonePal', to: ['me'] }),
        aChannel({ name: 'left', subscribers: ['me', 'former'] }),
        aChannel({ name: 'elsewhere', subscribers: ['fellow', 'unrelated'] }),
        aMessage({ from: 'pal', to: ['me'] }),
        aMessage({ from: 'mate1', to: ['mate2', 'me'] }),
        aMessage({ from: 'fellow', to: ['unrelated'] }),
      );
      await uow.write(realm.id, async (tx) => {
        const rows = await tx.channels.listSubscriptions(realm.id, user('me').id);
        const left = rows.find(({ channelId }) => channelId === channel('left').id)!;
        const [leaver] = await tx.channels.listSubscriptions(realm.id, user('leaver').id);
        await tx.channels.putSubscriptions([
          { ...left, isActive: false },
          { ...leaver!, isActive: false },
        ]);
      });
      const known = await uow.read(realm.id, (r) => r.users.listConversationPartners(realm.id, user('me').id));
      const names = [...users].filter(([name, { id }]) => name !== 'me' && known.has(id)).map(([name]) => name);
      expect(names).toEqual(['fellow', 'pal', 'mate1', 'mate2', 'gonePal']);
    });

    it('returns access between users at the time of an event and now', async () => {
      const people = ['guest', 'member', 'pal', 'unrelated'].map((name) => aUser({ name }));
      const fixture = await stage(...people, aChannel({ name: 'general', subscribers: ['member'] }));
      const { uow, realm, user, channel } = fixture;
      const { recipientId } = channel('general');
      const note = () =>
        uow.write(realm.id, (tx) =>
          appendEvent(tx, realm.id, { event: { type: 'blank' }, audience: { kind: 'nobody' } }),
        );
      const ids = (...names: string[]) => names.map((name) => user(name).id);
      const apart = await note();
      await uow.write(realm.id, (tx) => tx.personal.openSpans(realm.id, [recipientId], ids('guest')));
      const together = await note();
      await fixture.add(aMessage({ from: 'pal', to: ['guest'] }));
      await uow.write(realm.id, (tx) => tx.personal.closeSpans(realm.id, [recipientId], ids('guest')));
      const left = await note();
      const ask = (at: EventSeq | null, names: readonly string[], realmId = realm.id) =>
        uow.read(realmId, (r) =>
          r.users.areConversationPartners(
            realmId,
            names.map((name) => ({ guestId: user('guest').id, userId: user(name).id, at })),
          ),
        );
      const everybody = ['unrelated', 'member', 'pal'];
      expect(await ask(apart, everybody)).toEqual([false, false, false]);
      expect(await ask(together, everybody)).toEqual([false, true, false]);
      expect(await ask(left, everybody)).toEqual([false, false, true]);
      expect(await ask(null, everybody)).toEqual([false, false, true]);
      expect(await ask(null, [])).toEqual([]);
      const other = await anotherRealm(fixture);
      expect(await ask(null, everybody, other.realm.id)).toEqual([false, false, false]);
    });

    it('finds the same accessible users individually and all together', async () => {
      const { uow, realm, users, user, channel } = await stage(
        ...['me', 'fellow', 'pal', 'mate1', 'mate2', 'unrelated'].map((name) => aUser({ name })),
        aUser({ name: 'gone', isActive: false }),
        aChannel({ name: 'general', subscribers: ['me', 'fellow', 'gone'] }),
        aChannel({ name: 'elsewhere', subscribers: ['fellow', 'unrelated'] }),
        aMessage({ from: 'pal', to: ['me'] }),
        aMessage({ from: 'mate1', to: ['mate2', 'me'] }),
      );
      // Deactivated users receive nothing.
      await uow.write(realm.id, (tx) =>
        tx.personal.closeSpans(realm.id, [channel('general').recipientId], [user('gone').id]),
      );
      const others = [...users.values()].map(({ id }) => id).filter((id) => id !== user('me').id);
      const questions = others.map((userId) => ({ guestId: user('me').id, userId, at: null }));
      const answers = await uow.read(realm.id, (r) => r.users.areConversationPartners(realm.id, questions));
      const known = await uow.read(realm.id, (r) => r.users.listConversationPartners(realm.id, user('me').id));
      expect(others.filter((_, index) => answers[index])).toEqual(others.filter((id) => known.has(id)));
      expect(known.size).toBe(4);
    });

    it('lists bots except system bots', async () => {
      const { uow, realm, user } = await stage(
        aUser({ name: 'a' }),
        aUser({ name: 'second', botOf: 'a', isActive: false }),
        aUser({ name: 'first', botOf: 'a' }),
      );
      const bots = await uow.read(realm.id, (r) => r.users.listBotIds(realm.id));
      expect(bots).toEqual([user('second').id, user('first').id]);
    });

    it('lists guests, including deactivated ones', async () => {
      const { uow, realm, user } = await stage(
        aUser({ name: 'gone', role: 'guest', isActive: false }),
        aUser({ name: 'member' }),
        aUser({ name: 'here', role: 'guest' }),
      );
      const guests = await uow.read(realm.id, (r) => r.users.listGuestIds(realm.id));
      expect([...guests].sort()).toEqual([user('gone').id, user('here').id].sort());
    });

    it('stores password hashes', async () => {
      const { uow, realm, user } = await stage(aUser({ name: 'a', passwordHash: 'scrypt$1' }), aUser({ name: 'b' }));
      const hashOf = (id: UserId) => uow.read(realm.id, (r) => r.users.findPasswordHash(realm.id, id));
      expect(await hashOf(user('a').id)).toBe('scrypt$1');
      expect(await hashOf(user('b').id)).toBeNull();
      await uow.write(realm.id, (tx) => tx.users.setPasswordHash(realm.id, user('b').id, 'scrypt$2'));
      await uow.write(realm.id, (tx) => tx.users.setPasswordHash(realm.id, user('a').id, null));
      expect(await hashOf(user('b').id)).toBe('scrypt$2');
      expect(await hashOf(user('a').id)).toBeNull();
    });

    it('gives each user a different seed', async () => {
      const { uow, realm, user } = await stage(aUser({ name: 'a' }), aUser({ name: 'b' }));
      const seedOf = (id: UserId) => uow.read(realm.id, (r) => r.users.findSeed(realm.id, id));
      const seed = await seedOf(user('a').id);
      expect(seed).toMatch(SEED);
      expect(await seedOf(user('b').id)).not.toBe(seed);
      await uow.write(realm.id, async (tx) => tx.users.update(await tx.users.get(realm.id, user('a').id)));
      expect(await seedOf(user('a').id)).toBe(seed);
      expect(await seedOf(999_999 as UserId)).toBeNull();
    });

    it('isolates realms', async () => {
      const fixture = await stage(
        aUser({ name: 'a', passwordHash: 'scrypt$1' }),
        aUser({ name: 'b', role: 'guest' }),
        aMessage({ from: 'a', to: ['b'] }),
      );
      const { uow, user, realm } = fixture;
      const other = await createFixtureOn(fixture.uow, fixture.clock, aRealm({ stringId: 'other' }));
      const a = user('a');
      const found = await uow.read(other.realm.id, async (r) => [
        await r.users.find(other.realm.id, a.id),
        await r.users.findByEmail(other.realm.id, a.email),
        await r.users.list(other.realm.id, [a.id]),
        await r.users.listByEmail(other.realm.id, [a.email]),
        await r.users.listByName(other.realm.id, [a.fullName]),
        await r.users.listEntries(other.realm.id),
        await r.users.isNameTaken(other.realm.id, a.fullName, null),
        await r.users.findPasswordHash(other.realm.id, a.id),
        await r.users.findSeed(other.realm.id, a.id),
        (await r.users.listConversationPartners(other.realm.id, a.id)).size,
        await r.users.listBotIds(other.realm.id),
        await r.users.listGuestIds(other.realm.id),
      ]);
      expect(found).toEqual([null, null, [], [], [], [], false, null, null, 0, [], []]);
      const bots = await uow.read(other.realm.id, (r) => r.users.listSystemBots(other.realm.id));
      expect(bots.map((bot) => bot.realmId)).toEqual([other.realm.id, other.realm.id, other.realm.id]);
      expect(other.realm.id).not.toBe(realm.id);
    });
  });
}
