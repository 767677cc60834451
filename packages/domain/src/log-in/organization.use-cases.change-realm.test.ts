import {
  anotherRealm,
  aUser,
  aUserOfEachRole,
  createFixture,
  expectInSync,
  expectRefused,
  intercepting,
  type LogInSurroundings,
  type MemoryFixture,
  OverwhelmedRenderer,
  realmChangesOn,
} from '@parley/testkit';
import { MAX_MEMBERS_AT_ONCE } from '../groups/group.js';
import { FullMemberParts } from '../groups/system-groups.js';
import type { ChannelId } from '../kernel/ids.js';
import { JobRunner } from '../kernel/jobs.js';
import { AUTHENTICATION_METHODS, type AuthenticationMethod } from '../realms/realm-settings.js';
import type { ChangeRealmInput } from './organization.js';
import { ChangeRealm, ChangeUserDefaults } from './organization.use-cases.js';

const changing = (
  fixture: Pick<MemoryFixture, 'uow' | 'clock' | 'caller'>,
  surroundings: Partial<LogInSurroundings> = {},
) => {
  const useCase = new ChangeRealm(fixture.uow, realmChangesOn(fixture, surroundings));
  return (who: string, input: Partial<ChangeRealmInput>) =>
    useCase.execute(fixture.caller(who), { settings: {}, permissions: {}, ...input });
};
const realmOf = (fixture: MemoryFixture) => fixture.uow.read(fixture.realm.id, (r) => r.realms.get(fixture.realm.id));

describe('ChangeRealm', () => {
  const GITHUB = { kind: 'gitHubAuthentication', realms: null } as const;
  it.each<[string, readonly AuthenticationMethod[], Partial<LogInSurroundings>, boolean]>([
    ['passwords', ['emailAuthentication'], {}, true],
    ['no method', [], {}, false],
    ['development log-in outside development mode', ['devAuthentication'], {}, false],
    ['development log-in in development mode', ['devAuthentication'], { isDev: true }, true],
    ['a service that is not configured', ['gitHubAuthentication'], {}, false],
    ['a configured service', ['gitHubAuthentication'], { services: [GITHUB] }, true],
    ['a configured service among others', ['gitHubAuthentication', 'samlAuthentication'], { services: [GITHUB] }, true],
    [
      'a service of another organization',
      ['gitHubAuthentication'],
      { services: [{ ...GITHUB, realms: ['x'] }] },
      false,
    ],
    ['a disabled configured service', ['samlAuthentication'], { services: [GITHUB] }, false],
    ['no directory', ['ldapAuthentication'], {}, false],
    ['a directory', ['ldapAuthentication'], { directories: ['zulip'] }, true],
    ['a directory of another organization', ['ldapAuthentication'], { directories: ['x'] }, false],
    ['the page of the host application', ['samlAuthentication'], { services: [{ ...GITHUB, kind: 'host' }] }, true],
    ['host application log-in', ['samlAuthentication'], { isHostAuthenticated: true }, true],
    ['web tokens', ['samlAuthentication'], { hasWebTokens: true }, true],
  ])('decides on a change that leaves %s', async (_, enabled, surroundings, isAccepted) => {
    const fixture = await createFixture(aUserOfEachRole());
    const all = Object.keys(AUTHENTICATION_METHODS) as AuthenticationMethod[];
    const methods = new Map(all.map((method) => [method, enabled.includes(method)]));
    const change = () =>
      changing(fixture, surroundings)('owner', { authenticationMethods: { methods, unknown: null } });
    if (isAccepted) expect(await change()).toMatchObject({ changesAuthentication: true });
    else await expectRefused(fixture, change, { code: 'AUTHENTICATION_METHOD_REQUIRED' });
  });

  it('changes settings, permissions and the name in one unit of work', async () => {
    const fixture = await createFixture(aUserOfEachRole());
    const value = { directMembers: [fixture.user('member').id], directSubgroups: [] };
    await expectInSync(fixture, () =>
      changing(fixture)('owner', {
        name: 'Elsinore',
        settings: { description: 'A castle', messageRetentionDays: 30, waitingPeriodThreshold: 9 },
        permissions: { canCreateGroups: { new: value } },
      }),
    );
    const realm = await realmOf(fixture);
    expect(realm).toMatchObject({
      name: 'Elsinore',
      settings: { description: 'A castle', messageRetentionDays: 30, waitingPeriodThreshold: 9 },
    });
    expect(realm.renderedDescription).toContain('A castle');
    const values = await fixture.uow.read(realm.id, (r) =>
      r.groups.settingValues(realm.id, [realm.permissions.canCreateGroups]),
    );
    expect([...values.values()]).toEqual([value]);
  });

  it('rejects a description that cannot be rendered, in contract order and without parsing it in the transaction', async () => {
    const fixture = await createFixture(aUserOfEachRole());
    const change = changing(fixture, { renderer: new OverwhelmedRenderer() });
    const settings = { description: 'A castle' };
    await expectRefused(fixture, () => change('member', { settings }), { code: 'MUST_BE_ADMINISTRATOR' });
    await expectRefused(fixture, () => change('owner', { settings }), { code: 'UNRENDERABLE_CONTENT' });
  });

  it('rejects changes of operator settings', async () => {
    const fixture = await createFixture(aUserOfEachRole());
    await expectRefused(fixture, () => changing(fixture)('owner', { settings: { ownerFullContentAccess: true } }), {
      code: 'NOT_PERMITTED',
    });
  });

  it('rejects channels of other realms', async () => {
    const fixture = await createFixture(aUserOfEachRole());
    const theirs = (await anotherRealm(fixture)).channel('theirs');
    for (const id of [theirs.id, 999 as ChannelId]) {
      await expectRefused(
        fixture,
        () => changing(fixture)('administrator', { settings: { moderationRequestChannelId: id } }),
        { code: 'BAD_SETTING_VALUE', details: { of: 'realm', setting: 'moderationRequestChannelId', value: id } },
      );
    }
  });

  it.each([' ', 'é'.repeat(41)])('rejects the name %j', async (name) => {
    const fixture = await createFixture(aUserOfEachRole());
    await expectRefused(fixture, () => changing(fixture)('owner', { name }), { code: 'INVALID_REALM_NAME' });
  });

  it.each(['moderator', 'member', 'guest'])('rejects a %s as the caller', async (who) => {
    const fixture = await createFixture(aUserOfEachRole());
    await expectRefused(fixture, () => changing(fixture)(who, { name: 'New' }), { code: 'MUST_BE_ADMINISTRATOR' });
  });
});

describe('ChangeUserDefaults', () => {
  it('ignores settings without a default and leaves existing users unchanged', async () => {
    const fixture = await createFixture(aUser({ name: 'owner', role: 'owner' }));
    const useCase = new ChangeUserDefaults(fixture.uow);
    await useCase.execute(fixture.caller('owner'), { enterSends: true, timezone: 'Asia/Tokyo', defaultLanguage: 'de' });
    expect((await realmOf(fixture)).userDefaults).toMatchObject({
      enterSends: true,
      timezone: '',
      defaultLanguage: 'en',
    });
    expect(
      (await fixture.uow.read(fixture.realm.id, (r) => r.users.find(fixture.realm.id, fixture.user('owner').id)))!
        .settings,
    ).toMatchObject({
      enterSends: false,
    });
  });
});

describe('full members update (contract decision 10)', () => {
  const NAMES = Array.from({ length: MAX_MEMBERS_AT_ONCE + 20 }, (_, n) => `person ${n}`);

  async function manyPeople() {
    const fixture = await createFixture(
      aUser({ name: 'owner', role: 'owner' }),
      ...NAMES.map((name) => aUser({ name })),
    );
    const units = { count: 0, failsAfter: Number.POSITIVE_INFINITY };
    const uow = intercepting(fixture.uow, {
      write: async (work, run) => {
        if (units.count >= units.failsAfter) throw new Error('Stopped');
        units.count++;
        return run(work);
      },
    });
    return {
      ...{ fixture, units },
      setPeriod: (waitingPeriodThreshold: number) =>
        changing({ ...fixture, uow })('owner', { settings: { waitingPeriodThreshold } }),
      countFullMembers: () =>
        fixture.uow.read(fixture.realm.id, async ({ groups }) => {
          const { fullMembers } = await groups.systemGroupIds(fixture.realm.id);
          return (await groups.listDirectMembers(fixture.realm.id, fullMembers)).length;
        }),
      sizes: () =>
        fixture.storage.announced.flatMap(({ event }) =>
          event.type === 'group.members_changed' ? [[event.op, event.userIds.length]] : [],
        ),
    };
  }

  it('changes the full members in bounded units', async () => {
    const { fixture, units, setPeriod, countFullMembers, sizes } = await manyPeople();
    await expectInSync(fixture, () => setPeriod(1000));
    // The setting, the plan and two parts.
    expect([units.count, await countFullMembers()]).toEqual([4, 0]);
    await expectInSync(fixture, () => setPeriod(0));
    expect(await countFullMembers()).toBe(NAMES.length);
    expect(sizes()).toEqual([
      ['remove', MAX_MEMBERS_AT_ONCE],
      ['remove', 20],
      ['add', MAX_MEMBERS_AT_ONCE],
      ['add', 20],
    ]);
  });

  it('is completed by a job after a crash', async () => {
    const { fixture, units, setPeriod, countFullMembers } = await manyPeople();
    units.failsAfter = 1;
    await expect(setPeriod(1000)).rejects.toThrow('Stopped');
    expect(await countFullMembers()).toBe(NAMES.length);
    const { uow, clock } = fixture;
    clock.advance(60);
    const problems: unknown[] = [];
    const report = (...problem: unknown[]) => void problems.push(problem);
    await new JobRunner(new FullMemberParts(uow, clock), { uow, clock, report }).run();
    expect([problems, await countFullMembers()]).toEqual([[], 0]);
  });
});
