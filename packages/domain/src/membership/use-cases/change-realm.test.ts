import {
  anotherRealm,
  aUser,
  aUserOfEachRole,
  createFixture,
  expectInSync,
  expectRefused,
  FakeRenderer,
  fakeRealmUrls,
  type MemoryFixture,
  OverwhelmedRenderer,
} from '@parley/testkit';
import type { ChannelId } from '../../kernel/ids.js';
import { MarkdownTextRenderer } from '../../messages/render-message.js';
import { type ChangeRealmInput, RealmChanges } from '../organization.js';
import { ChangeRealm, ChangeUserDefaults } from '../organization.use-cases.js';

const changing = (fixture: MemoryFixture, renderer = new FakeRenderer()) => {
  const changes = new RealmChanges(
    new MarkdownTextRenderer(fixture.uow, renderer, fakeRealmUrls),
    fixture.clock,
    { isOn: false },
    null,
    [],
  );
  const useCase = new ChangeRealm(fixture.uow, changes);
  return (who: string, input: Partial<ChangeRealmInput>) =>
    useCase.execute(fixture.caller(who), { settings: {}, permissions: {}, ...input });
};
const realmOf = (fixture: MemoryFixture) => fixture.uow.read(fixture.realm.id, (r) => r.realms.get(fixture.realm.id));

describe('ChangeRealm', () => {
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
    const change = changing(fixture, new OverwhelmedRenderer());
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
