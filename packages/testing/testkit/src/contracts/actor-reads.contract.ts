import type { GroupId, Transaction, UserId } from '@parley/domain/kernel';
import { aGroup, anotherRealm, aUser, aUserOfEachRole } from '../builders.js';
import { ascending, code, type OpenStorage, stagesOn } from './storage-under-test.js';

export function actorReadsContract(open: OpenStorage): void {
  describe('ActorReads', () => {
    const stage = stagesOn(open);

    it('returns the user or bot properties that rules read', async () => {
      const { uow, realm, user, caller } = await stage(
        aUser({ name: 'iago', role: 'administrator' }),
        aUser({ name: 'helper', botOf: 'iago', role: 'guest' }),
      );
      expect(await uow.read(realm.id, (r) => r.actors.get(caller('iago')))).toMatchObject({
        id: user('iago').id,
        realmId: realm.id,
        role: 'administrator',
        isBot: false,
        botOwnerId: null,
      });
      expect(await uow.read(realm.id, (r) => r.actors.get(caller('helper')))).toMatchObject({
        role: 'guest',
        isBot: true,
        botOwnerId: user('iago').id,
      });
    });

    it('lists every group of a user, direct or nested, named or anonymous', async () => {
      const { uow, realm, user, group, caller } = await stage(
        aUser({ name: 'hamlet' }),
        aUser({ name: 'ophelia', role: 'guest' }),
        aGroup({ name: 'cast', members: ['hamlet'] }),
        aGroup({ name: 'crew', subgroups: ['cast'] }),
        aGroup({ name: 'theatre', members: ['ophelia'], subgroups: ['crew'] }),
        aGroup({ name: 'others' }),
      );
      const anonymous = await uow.write(realm.id, (tx) =>
        tx.groups.add(
          { ...group('cast'), name: null, permissions: null, createdAt: null },
          [user('ophelia').id],
          [group('crew').id],
        ),
      );
      const system = await uow.read(realm.id, (r) => r.groups.systemGroupIds(realm.id));
      const hamlet = await uow.read(realm.id, (r) => r.actors.get(caller('hamlet')));
      const own = [group('cast'), group('crew'), group('theatre'), anonymous].map(({ id }) => id);
      expect(ascending(hamlet.groups)).toEqual(
        ascending([system.members, system.fullMembers, system.everyone, system.internet, ...own]),
      );
      const ophelia = await uow.read(realm.id, (r) => r.actors.get(caller('ophelia')));
      expect(ascending(ophelia.groups)).toEqual(
        ascending([system.everyone, system.internet, group('theatre').id, anonymous.id]),
      );
    });

    it('agrees with recursive group members, including cycles and deactivated groups', async () => {
      const { uow, realm, group, users } = await stage(
        aUserOfEachRole(),
        aUser({ name: 'gone', isActive: false }),
        aGroup({ name: 'a', members: ['member', 'gone'] }),
        aGroup({ name: 'b', members: ['guest'], subgroups: ['a'] }),
        aGroup({ name: 'c', members: ['owner'], subgroups: ['b'], isDeactivated: true }),
        aGroup({ name: 'd', subgroups: ['c'] }),
      );
      await uow.write(realm.id, (tx) => tx.groups.addSubgroups(realm.id, group('a').id, [group('b').id]));
      await uow.read(realm.id, async (r) => {
        const userIds = [...users.values()].map(({ id }) => id);
        const actors = await r.actors.list(realm.id, userIds);
        for (const { id, name } of await r.groups.listViews(realm.id)) {
          const members = [...actors.values()].filter((actor) => actor.groups.has(id)).map((actor) => actor.id);
          expect([name, ascending(members)]).toEqual([name, await r.groups.listMembersRecursively(realm.id, [id])]);
        }
      });
    });

    it('reflects group changes from the next read on', async () => {
      const { uow, realm, user, group, caller } = await stage(
        aUser({ name: 'hamlet' }),
        aGroup({ name: 'cast' }),
        aGroup({ name: 'theatre', subgroups: ['cast'] }),
      );
      const isIn = (name: string) =>
        uow.read(realm.id, async (r) => (await r.actors.get(caller('hamlet'))).groups.has(group(name).id));
      expect(await isIn('theatre')).toBe(false);
      const seenWithin = await uow.write(realm.id, async (tx) => {
        await tx.groups.addMembers(realm.id, group('cast').id, [user('hamlet').id]);
        return (await tx.actors.get(caller('hamlet'))).groups.has(group('theatre').id);
      });
      expect(seenWithin).toBe(true);
      expect(await isIn('theatre')).toBe(true);
      await uow.write(realm.id, (tx) => tx.groups.removeSubgroups(realm.id, group('theatre').id, [group('cast').id]));
      expect([await isIn('cast'), await isIn('theatre')]).toEqual([true, false]);
    });

    it('agrees with recursive group members after each kind of group change', async () => {
      const { uow, realm, user, group, users } = await stage(
        aUserOfEachRole(),
        aGroup({ name: 'cast', members: ['member'] }),
        aGroup({ name: 'crew', members: ['guest'] }),
        aGroup({ name: 'theatre', subgroups: ['cast'] }),
      );
      const [cast, crew] = [group('cast'), group('crew')];
      const ids = [user('member').id, user('guest').id];
      const anonymous = { ...cast, name: null, permissions: null, createdAt: null };
      const holders: GroupId[] = [];
      const changes: ((tx: Transaction) => Promise<unknown>)[] = [
        (tx) => tx.groups.addMembers(realm.id, cast.id, [user('owner').id]),
        (tx) => tx.groups.removeMembers(realm.id, cast.id, [user('member').id]),
        (tx) => tx.groups.addMembers(realm.id, cast.id, ids),
        (tx) => tx.groups.addSubgroups(realm.id, cast.id, [crew.id]),
        async (tx) => holders.push((await tx.groups.add(anonymous, ids, [])).id),
        async (tx) => holders.push((await tx.groups.add(anonymous, [], [crew.id])).id),
        (tx) => tx.groups.update({ ...cast, isDeactivated: true }),
        (tx) => tx.groups.update(cast),
        (tx) => tx.groups.removeAnonymous(realm.id, holders),
        (tx) => tx.users.update({ ...user('guest'), isActive: false }),
        (tx) => tx.groups.removeSubgroups(realm.id, cast.id, [crew.id]),
        (tx) => tx.users.update(user('guest')),
      ];
      for (const [step, change] of changes.entries()) {
        await uow.write(realm.id, change);
        await uow.read(realm.id, async (r) => {
          const actors = await r.actors.list(
            realm.id,
            [...users.values()].map(({ id }) => id),
          );
          const named = [...(await r.groups.listNamed(realm.id))].map(({ id }) => id);
          for (const id of [...named, ...(step < 8 ? holders : [])]) {
            const members = [...actors.values()].filter(({ groups }) => groups.has(id)).map((actor) => actor.id);
            expect([step, id, ascending(members)]).toEqual([
              step,
              id,
              await r.groups.listMembersRecursively(realm.id, [id]),
            ]);
          }
        });
      }
    });

    it('reflects subgroups that a unit of work removes and adds again', async () => {
      const { uow, realm, user, group } = await stage(
        aUser({ name: 'hamlet' }),
        aGroup({ name: 'cast', members: ['hamlet'] }),
        aGroup({ name: 'crew', subgroups: ['cast'] }),
      );
      const [crew, cast] = [group('crew').id, group('cast').id];
      const states = await uow.write(realm.id, async (tx) => {
        const isInCrew = async () =>
          (await tx.actors.list(realm.id, [user('hamlet').id])).get(user('hamlet').id)!.groups.has(crew);
        const before = await isInCrew();
        await tx.groups.removeSubgroups(realm.id, crew, [cast]);
        const undone = await isInCrew();
        await tx.groups.addSubgroups(realm.id, crew, [cast]);
        return [before, undone, await isInCrew()];
      });
      expect(states).toEqual([true, false, true]);
    });

    it('discards group changes of a rolled back transaction', async () => {
      const { uow, realm, user, group, caller } = await stage(aUser({ name: 'hamlet' }), aGroup({ name: 'cast' }));
      const failing = uow.write(realm.id, async (tx) => {
        await tx.groups.addMembers(realm.id, group('cast').id, [user('hamlet').id]);
        await tx.actors.get(caller('hamlet'));
        throw new Error('no');
      });
      await expect(failing).rejects.toThrow('no');
      const actor = await uow.read(realm.id, (r) => r.actors.get(caller('hamlet')));
      expect(actor.groups.has(group('cast').id)).toBe(false);
      const inWrite = await uow.write(actor.realmId, (tx) => tx.actors.get(caller('hamlet')));
      expect(inWrite.groups.has(group('cast').id)).toBe(false);
    });

    it('rejects a deactivated user and omits deactivated and unknown ones from lists', async () => {
      const fixture = await stage(aUser({ name: 'hamlet' }), aUser({ name: 'gone', isActive: false }));
      const { uow, realm, user, caller } = fixture;
      const other = await anotherRealm(fixture);
      await expect(uow.read(realm.id, (r) => r.actors.get(caller('gone')))).rejects.toEqual(code('USER_DEACTIVATED'));
      await expect(
        uow.read(realm.id, (r) => r.actors.get({ realmId: realm.id, userId: other.user('otherRealmUser').id })),
      ).rejects.toThrow();
      const ids = [user('hamlet').id, user('gone').id, other.user('otherRealmUser').id, 9999 as UserId];
      const actors = await uow.read(realm.id, (r) => r.actors.list(realm.id, ids));
      expect([...actors.keys()]).toEqual([user('hamlet').id]);
      expect(actors.get(user('hamlet').id)).toEqual(await uow.read(realm.id, (r) => r.actors.get(caller('hamlet'))));
    });

    it('returns the author of a request with the same groups before and after the deactivation', async () => {
      const fixture = await stage(
        aUser({ name: 'hamlet' }),
        aGroup({ name: 'cast', members: ['hamlet'] }),
        aGroup({ name: 'theatre', subgroups: ['cast'] }),
      );
      const { uow, realm, user, caller } = fixture;
      const active = await uow.read(realm.id, (r) => r.actors.get(caller('hamlet')));
      expect(await uow.read(realm.id, (r) => r.actors.getAuthor(caller('hamlet')))).toEqual(active);
      await uow.write(realm.id, (tx) => tx.users.update({ ...user('hamlet'), isActive: false }));
      expect(await uow.read(realm.id, (r) => r.actors.getAuthor(caller('hamlet')))).toEqual(active);
      expect(await uow.write(realm.id, (tx) => tx.actors.getAuthor(caller('hamlet')))).toEqual(active);
      // The cached author is not a valid caller.
      await expect(uow.read(realm.id, (r) => r.actors.get(caller('hamlet')))).rejects.toEqual(code('USER_DEACTIVATED'));
      const other = await anotherRealm(fixture);
      const stranger = { realmId: realm.id, userId: other.user('otherRealmUser').id };
      await expect(uow.read(realm.id, (r) => r.actors.getAuthor(stranger))).rejects.toEqual(code('USER_DEACTIVATED'));
    });
  });
}
