import { SUBGROUP_OF, SYSTEM_GROUPS } from '@parley/domain/access';
import { GROUP_PERMISSIONS, type Group } from '@parley/domain/groups';
import type { GroupId, Transaction } from '@parley/domain/kernel';
import { aGroup, anotherRealm, aUser, type Fixture } from '../builders.js';
import { ascending, idsOf, type OpenStorage, stagesOn } from './storage-under-test.js';

const UNNAMED = { name: null, permissions: null, createdAt: null, description: '' };

const addAnonymous = (fixture: Fixture, members: readonly string[], subgroups: readonly string[]): Promise<Group> =>
  fixture.uow.write(fixture.realm.id, (tx) =>
    tx.groups.add(
      { realmId: fixture.realm.id, systemName: null, isDeactivated: false, creatorId: null, ...UNNAMED },
      members.map((name) => fixture.user(name).id),
      subgroups.map((name) => fixture.group(name).id),
    ),
  );

export function groupRepositoryContract(open: OpenStorage): void {
  describe('group repository', () => {
    const stage = stagesOn(open);

    it('stores every property of a group', async () => {
      const fixture = await stage(aUser({ name: 'iago' }), aGroup({ name: 'Cast 🎭' }));
      const { uow, realm, group, user } = fixture;
      const cast = group('Cast 🎭');
      expect(await uow.read(realm.id, (r) => r.groups.find(realm.id, cast.id))).toEqual(cast);
      const changed: Group = {
        ...cast,
        name: 'crew',
        description: 'Behind the stage',
        isDeactivated: true,
        creatorId: user('iago').id,
        permissions: { ...cast.permissions!, canManage: cast.id },
      };
      await uow.write(changed.realmId, (tx) => tx.groups.update(changed));
      expect(await uow.read(realm.id, (r) => r.groups.find(realm.id, cast.id))).toEqual(changed);

      const anonymous = await addAnonymous(fixture, ['iago'], []);
      expect(anonymous).toMatchObject({ ...UNNAMED, realmId: realm.id });
      expect(await uow.read(realm.id, (r) => r.groups.find(realm.id, anonymous.id))).toEqual(anonymous);
    });

    it('reads one group, several, all named ones and their members within the realm', async () => {
      const fixture = await stage(
        aUser({ name: 'a' }),
        aUser({ name: 'gone', isActive: false }),
        aUser({ name: 'b' }),
        aGroup({ name: 'inner', members: ['b'] }),
        aGroup({ name: 'outer', members: ['a', 'gone'], subgroups: ['inner'], isDeactivated: true }),
      );
      const { uow, realm, group, user } = fixture;
      const anonymous = await addAnonymous(fixture, ['a', 'b'], ['inner']);
      const other = await anotherRealm(fixture, aGroup({ name: 'theirs', members: ['otherRealmUser'] }));
      const theirs = other.group('theirs');
      await uow.readAcross(async ({ groups }) => {
        const views = await groups.listViews(realm.id);
        for (const view of views) expect(await groups.findView(realm.id, view.id)).toEqual(view);
        expect(await groups.listLeanViews(realm.id)).toEqual(
          views.map((view) => (view.systemName === 'everyone' ? { ...view, memberIds: [] } : view)),
        );
        for (const id of [anonymous.id, theirs.id]) expect(await groups.findView(realm.id, id)).toBeNull();
        const named = await groups.listNamed(realm.id);
        expect(idsOf(named)).toEqual(idsOf(views));
        expect(named.slice(-2)).toEqual([group('inner'), group('outer')]);
        expect(await groups.countNamed(realm.id)).toBe(SYSTEM_GROUPS.length + 2);
        expect(await groups.countMemberships(realm.id)).toBe(3);
        const asked = [anonymous.id, 999 as GroupId, theirs.id, group('outer').id];
        expect(await groups.list(realm.id, asked)).toEqual([group('outer'), anonymous]);
        const everybody = [user('b').id, user('gone').id, user('a').id, other.user('otherRealmUser').id];
        const direct = (id: GroupId) => groups.filterDirectMembers(realm.id, id, everybody);
        expect(await direct(group('outer').id)).toEqual([user('a').id, user('gone').id]);
        expect(await direct(theirs.id)).toEqual([]);
        expect(await groups.listSubgroupIds(realm.id, group('outer').id)).toEqual([group('inner').id]);
        expect(await groups.listSubgroupIds(other.realm.id, group('outer').id)).toEqual([]);
      });
    });

    it('counts memberships of named groups except system groups', async () => {
      const fixture = await stage(aUser({ name: 'a' }), aUser({ name: 'b' }), aGroup({ name: 'team', members: ['a'] }));
      const { uow, realm, group, user } = fixture;
      const { nobody } = await uow.read(realm.id, (r) => r.groups.systemGroupIds(realm.id));
      const [a, b] = [user('a').id, user('b').id];
      const after = (work: (tx: Transaction) => Promise<unknown>) =>
        uow.write(realm.id, async (tx) => {
          await work(tx);
          return tx.groups.countMemberships(realm.id);
        });
      expect(await after((tx) => tx.groups.addMembers(realm.id, group('team').id, [a, b]))).toBe(2);
      expect(await after((tx) => tx.groups.addMembers(realm.id, nobody, [a]))).toBe(2);
      await addAnonymous(fixture, ['a', 'b'], []);
      expect(await after((tx) => tx.groups.removeMembers(realm.id, nobody, [a]))).toBe(2);
      expect(await after((tx) => tx.groups.removeMembers(realm.id, group('team').id, [a, b, a]))).toBe(0);
    });

    it('counts members of anonymous groups only', async () => {
      const fixture = await stage(
        aUser({ name: 'a' }),
        aUser({ name: 'b' }),
        aGroup({ name: 'team', members: ['a'] }),
        aGroup({ name: 'inner' }),
      );
      const { uow, realm, group, user } = fixture;
      const other = await anotherRealm(fixture);
      const [a, b] = [user('a').id, user('b').id];
      const count = (realmId = realm.id) => uow.read(realmId, (r) => r.groups.countPermissionHolders(realmId));
      const [before, beforeElsewhere] = [await count(), await count(other.realm.id)];
      const one = await addAnonymous(fixture, ['a', 'b', 'a'], ['team']);
      const two = await addAnonymous(fixture, ['a'], ['inner']);
      expect(await count()).toBe(before + 5);
      await uow.write(realm.id, async ({ groups }) => {
        await groups.addMembers(realm.id, group('team').id, [b]);
        await groups.addSubgroups(realm.id, group('team').id, [group('inner').id]);
        await groups.removeMembers(realm.id, group('team').id, [a, b]);
        await groups.removeSubgroups(realm.id, group('team').id, [group('inner').id]);
      });
      expect(await count()).toBe(before + 5);
      await uow.write(realm.id, async ({ groups }) => {
        await groups.addMembers(realm.id, two.id, [a, b]);
        await groups.addSubgroups(realm.id, two.id, [group('team').id, group('inner').id]);
      });
      expect(await count()).toBe(before + 7);
      await uow.write(realm.id, async ({ groups }) => {
        await groups.removeMembers(realm.id, two.id, [a, b]);
        await groups.removeSubgroups(realm.id, two.id, [group('team').id]);
      });
      expect(await count()).toBe(before + 4);
      await uow.write(realm.id, ({ groups }) => groups.removeAnonymous(realm.id, [one.id, group('team').id]));
      await uow.write(realm.id, ({ groups }) => groups.removeAnonymous(realm.id, [one.id]));
      expect(await count()).toBe(before + 1);
      expect(await count(other.realm.id)).toBe(beforeElsewhere);
    });

    it('removes anonymous groups with their members but no named ones', async () => {
      const fixture = await stage(aUser({ name: 'a' }), aGroup({ name: 'inner', members: ['a'] }));
      const { uow, realm, group, user } = fixture;
      const [one, two] = [await addAnonymous(fixture, ['a'], ['inner']), await addAnonymous(fixture, [], [])];
      const other = await anotherRealm(fixture);
      const anonymous = () => uow.read(realm.id, (r) => r.groups.listAnonymousIds(realm.id));
      const present = await anonymous();
      expect(present.slice(-2)).toEqual([one.id, two.id]);
      const remove = (realmId = realm.id) =>
        uow.write(realmId, (tx) => tx.groups.removeAnonymous(realmId, [one.id, group('inner').id]));
      await remove(other.realm.id);
      expect(await anonymous()).toEqual(present);
      await remove();
      await remove();
      expect(await anonymous()).toEqual(present.filter((id) => id !== one.id));
      await uow.read(realm.id, async ({ groups, actors }) => {
        expect(await groups.find(realm.id, one.id)).toBeNull();
        expect(await groups.listDirectMembers(realm.id, group('inner').id)).toEqual([user('a').id]);
        expect((await groups.listEdges(realm.id)).some(({ groupId }) => groupId === one.id)).toBe(false);
        expect((await actors.get({ realmId: realm.id, userId: user('a').id })).groups.has(one.id)).toBe(false);
      });
    });

    it('finds the shared group of one user', async () => {
      const fixture = await stage(aUser({ name: 'a' }), aUser({ name: 'b' }));
      const { uow, realm, user } = fixture;
      const other = await anotherRealm(fixture);
      const find = (name: string, realmId = realm.id) =>
        uow.read(realmId, (r) => r.groups.findOfOne(realmId, user(name).id));
      const group = await addAnonymous(fixture, ['a'], []);
      expect(await find('a')).toBeNull();
      await uow.write(realm.id, (tx) => tx.groups.shareOfOne(realm.id, user('a').id, group.id));
      expect([await find('a'), await find('b'), await find('a', other.realm.id)]).toEqual([group.id, null, null]);
      expect(await uow.read(realm.id, (r) => r.groups.listIdsOfOne(realm.id))).toEqual([group.id]);
      expect(await uow.read(other.realm.id, (r) => r.groups.listIdsOfOne(other.realm.id))).toEqual([]);
    });

    it('finds named groups, ignoring case', async () => {
      const fixture = await stage(
        aUser({ name: 'iago' }),
        aGroup({ name: 'Äpfel' }),
        aGroup({ name: 'birnen', isDeactivated: true }),
      );
      const { uow, realm, group } = fixture;
      await addAnonymous(fixture, [], []);
      expect(await uow.read(realm.id, (r) => r.groups.findByName(realm.id, 'äPFEL'))).toEqual(group('Äpfel'));
      expect(await uow.read(realm.id, (r) => r.groups.findByName(realm.id, 'role:FULLMEMBERS'))).toMatchObject({
        systemName: 'fullMembers',
      });
      expect(await uow.read(realm.id, (r) => r.groups.findByName(realm.id, ''))).toBeNull();
      expect(await uow.read(realm.id, (r) => r.groups.listByName(realm.id, ['BIRNEN', 'äpfel', 'kiwis']))).toEqual([
        group('Äpfel'),
        group('birnen'),
      ]);
    });

    it('contains the eight system groups, each with the next smaller one as its subgroup', async () => {
      const { uow, realm } = await stage();
      const ids = await uow.read(realm.id, (r) => r.groups.systemGroupIds(realm.id));
      expect(Object.keys(ids).sort()).toEqual(SYSTEM_GROUPS.map(({ name }) => name).sort());
      const views = await uow.read(realm.id, (r) => r.groups.listViews(realm.id));
      for (const view of views) {
        const subgroup = SUBGROUP_OF[view.systemName!];
        expect([view.name, view.subgroupIds]).toEqual([view.name, subgroup ? [ids[subgroup]] : []]);
        expect(view.permissions).toEqual(
          Object.fromEntries(Object.keys(GROUP_PERMISSIONS).map((name) => [name, ids.nobody])),
        );
      }
    });

    it('returns views of named groups with active members and subgroups, ascending', async () => {
      const fixture = await stage(
        aUser({ name: 'a' }),
        aUser({ name: 'gone', isActive: false }),
        aUser({ name: 'b' }),
        aGroup({ name: 'first' }),
        aGroup({ name: 'second' }),
        aGroup({ name: 'both', members: ['b', 'gone', 'a'], subgroups: ['second', 'first'], isDeactivated: true }),
      );
      const { uow, realm, group, user } = fixture;
      const anonymous = await addAnonymous(fixture, ['b', 'gone', 'a'], ['second', 'first']);
      const both = group('both');
      const granted = { ...both, permissions: { ...both.permissions!, canManage: anonymous.id } };
      await uow.write(granted.realmId, (tx) => tx.groups.update(granted));

      const views = await uow.read(realm.id, (r) => r.groups.listViews(realm.id));
      expect(idsOf(views)).toEqual(ascending(idsOf(views)));
      expect(idsOf(views)).not.toContain(anonymous.id);
      const memberIds = [user('a').id, user('b').id];
      const subgroupIds = [group('first').id, group('second').id];
      expect(views.at(-1)).toEqual({
        ...granted,
        permissions: {
          ...granted.permissions,
          canManage: { directMembers: memberIds, directSubgroups: subgroupIds },
        },
        memberIds,
        subgroupIds,
      });
    });

    it('returns the permission value that a group represents', async () => {
      const fixture = await stage(
        aUser({ name: 'a' }),
        aUser({ name: 'b' }),
        aGroup({ name: 'first' }),
        aGroup({ name: 'second' }),
      );
      const { uow, realm, group, user } = fixture;
      const anonymous = await addAnonymous(fixture, ['b', 'a'], ['second', 'first']);
      const empty = await addAnonymous(fixture, [], []);
      const unknown = (empty.id + 1) as GroupId;
      const values = await uow.read(realm.id, (r) =>
        r.groups.settingValues(realm.id, [empty.id, group('first').id, anonymous.id, unknown]),
      );
      expect(new Map(values)).toEqual(
        new Map<GroupId, unknown>([
          [group('first').id, group('first').id],
          [
            anonymous.id,
            {
              directMembers: [user('a').id, user('b').id],
              directSubgroups: [group('first').id, group('second').id],
            },
          ],
          [empty.id, { directMembers: [], directSubgroups: [] }],
        ]),
      );
    });

    it('adds and removes members and returns actual changes, ascending', async () => {
      const { uow, realm, group, user } = await stage(
        aUser({ name: 'a' }),
        aUser({ name: 'b' }),
        aUser({ name: 'c' }),
        aGroup({ name: 'cast', members: ['b'] }),
      );
      const [a, b, c] = [user('a').id, user('b').id, user('c').id];
      const { id } = group('cast');
      expect(await uow.write(realm.id, (tx) => tx.groups.addMembers(realm.id, id, [c, b, a]))).toEqual([a, c]);
      expect(await uow.write(realm.id, (tx) => tx.groups.addMembers(realm.id, id, [a, c]))).toEqual([]);
      expect(await uow.read(realm.id, (r) => r.groups.listMembersRecursively(realm.id, [id]))).toEqual([a, b, c]);
      expect(await uow.write(realm.id, (tx) => tx.groups.removeMembers(realm.id, id, [c, a]))).toEqual([a, c]);
      expect(await uow.write(realm.id, (tx) => tx.groups.removeMembers(realm.id, id, [c, a]))).toEqual([]);
      expect(await uow.read(realm.id, (r) => r.groups.listMembersRecursively(realm.id, [id]))).toEqual([b]);
    });

    it('adds and removes subgroups and returns actual changes, ascending', async () => {
      const { uow, realm, group } = await stage(
        aGroup({ name: 'a' }),
        aGroup({ name: 'b' }),
        aGroup({ name: 'c' }),
        aGroup({ name: 'all', subgroups: ['b'] }),
      );
      const [a, b, c] = [group('a').id, group('b').id, group('c').id];
      const { id } = group('all');
      const subgroups = () => uow.read(realm.id, async (r) => (await r.groups.listViews(realm.id)).at(-1)?.subgroupIds);
      expect(await uow.write(realm.id, (tx) => tx.groups.addSubgroups(realm.id, id, [c, b, a]))).toEqual([a, c]);
      expect(await uow.write(realm.id, (tx) => tx.groups.addSubgroups(realm.id, id, [a, c]))).toEqual([]);
      expect(await subgroups()).toEqual([a, b, c]);
      expect(await uow.write(realm.id, (tx) => tx.groups.removeSubgroups(realm.id, id, [c, a]))).toEqual([a, c]);
      expect(await uow.write(realm.id, (tx) => tx.groups.removeSubgroups(realm.id, id, [c, a]))).toEqual([]);
      expect(await subgroups()).toEqual([b]);
    });

    it('lists recursive members once despite cycles, without deactivated users and groups', async () => {
      const { uow, realm, group, user } = await stage(
        aUser({ name: 'a' }),
        aUser({ name: 'b' }),
        aUser({ name: 'c' }),
        aUser({ name: 'gone', isActive: false }),
        aGroup({ name: 'closed', members: ['c'], isDeactivated: true }),
        aGroup({ name: 'inner', members: ['b', 'a', 'gone'], subgroups: ['closed'] }),
        aGroup({ name: 'outer', members: ['b'], subgroups: ['inner'] }),
      );
      await uow.write(realm.id, (tx) => tx.groups.addSubgroups(realm.id, group('inner').id, [group('outer').id]));
      const membersOf = (...ids: GroupId[]) =>
        uow.read(realm.id, (r) => r.groups.listMembersRecursively(realm.id, ids));
      const [outer, closed] = [group('outer').id, group('closed').id];
      expect(await membersOf(outer)).toEqual([user('a').id, user('b').id]);
      expect(await membersOf(closed)).toEqual([user('c').id]);
      expect(await membersOf(closed, outer, closed)).toEqual([user('a').id, user('b').id, user('c').id]);
      expect(await membersOf()).toEqual([]);
    });

    it('lists the direct groups of a user, named or anonymous', async () => {
      const fixture = await stage(
        aUser({ name: 'a', role: 'guest' }),
        aGroup({ name: 'cast', members: ['a'] }),
        aGroup({ name: 'theatre', subgroups: ['cast'] }),
      );
      const { uow, realm, group, user } = fixture;
      const anonymous = await addAnonymous(fixture, ['a'], []);
      const { everyone } = await uow.read(realm.id, (r) => r.groups.systemGroupIds(realm.id));
      expect(await uow.read(realm.id, (r) => r.groups.listDirectIds(realm.id, user('a').id))).toEqual([
        everyone,
        group('cast').id,
        anonymous.id,
      ]);
    });

    it('lists direct members including deactivated ones', async () => {
      const fixture = await stage(
        aUser({ name: 'a' }),
        aUser({ name: 'gone', isActive: false }),
        aUser({ name: 'b' }),
        aGroup({ name: 'inner', members: ['b'] }),
        aGroup({ name: 'outer', members: ['gone', 'a'], subgroups: ['inner'] }),
      );
      const { uow, realm, group, user } = fixture;
      const members = await uow.read(realm.id, (r) => r.groups.listDirectMembers(realm.id, group('outer').id));
      expect(members).toEqual([user('a').id, user('gone').id]);
    });

    it('lists every edge including those of anonymous groups', async () => {
      const fixture = await stage(aGroup({ name: 'inner' }), aGroup({ name: 'outer', subgroups: ['inner'] }));
      const { uow, realm, group } = fixture;
      const systemEdges = Object.keys(SUBGROUP_OF).length;
      const anonymous = await addAnonymous(fixture, [], ['outer', 'inner']);
      const edges = await uow.read(realm.id, (r) => r.groups.listEdges(realm.id));
      expect(edges).toHaveLength(systemEdges + 3);
      expect(edges).toEqual(
        expect.arrayContaining([
          { subgroupId: group('inner').id, groupId: group('outer').id },
          { subgroupId: group('inner').id, groupId: anonymous.id },
          { subgroupId: group('outer').id, groupId: anonymous.id },
        ]),
      );
    });

    it('lists deactivated groups', async () => {
      const fixture = await stage(
        aGroup({ name: 'b', isDeactivated: true }),
        aGroup({ name: 'in use' }),
        aGroup({ name: 'a', isDeactivated: true }),
      );
      const { uow, realm, group } = fixture;
      const deactivated = await uow.read(realm.id, (r) => r.groups.listDeactivatedIds(realm.id));
      expect(deactivated).toEqual([group('b').id, group('a').id]);
      const other = (await anotherRealm(fixture)).realm.id;
      expect(await uow.read(other, (r) => r.groups.listDeactivatedIds(other))).toEqual([]);
    });

    it('isolates realms', async () => {
      const fixture = await stage(aUser({ name: 'a' }), aGroup({ name: 'cast', members: ['a'] }));
      const { uow, group, user } = fixture;
      const other = (await anotherRealm(fixture)).realm.id;
      const { id } = group('cast');
      const found = await uow.read(other, async (r) => [
        await r.groups.find(other, id),
        await r.groups.findByName(other, 'cast'),
        await r.groups.listByName(other, ['cast']),
        (await r.groups.listViews(other)).length,
        (await r.groups.settingValues(other, [id])).size,
        await r.groups.listMembersRecursively(other, [id]),
        (await r.groups.listEdges(other)).length,
        await r.groups.listDirectIds(other, user('a').id),
      ]);
      expect(found).toEqual([null, null, [], SYSTEM_GROUPS.length, 0, [], Object.keys(SUBGROUP_OF).length, []]);
    });
  });
}
