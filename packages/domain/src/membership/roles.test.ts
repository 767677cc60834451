import {
  aChannel,
  aRealmWith,
  aUser,
  aUserOfEachRole,
  createFixture,
  expectInSync,
  expectRefused,
  FakeRenderer,
  fakeRealmUrls,
  type MemoryFixture,
} from '@parley/testkit';
import type { Role } from '../access/roles.js';
import { ProfileValues } from '../users/profiles.use-cases.js';
import { MarkdownTextRenderer } from '../writing/render-message.js';
import { UpdateUser, type UpdateUserInput } from './roles.js';

const NO_DISPOSABLE = { has: () => false };
const updating = (fixture: MemoryFixture) => {
  const useCase = new UpdateUser(
    fixture.uow,
    fakeRealmUrls,
    NO_DISPOSABLE,
    fixture.clock,
    new ProfileValues(fixture.uow, new MarkdownTextRenderer(fixture.uow, new FakeRenderer(), fakeRealmUrls)),
  );
  return (as: string, who: string, input: Omit<UpdateUserInput, 'user'>) =>
    useCase.execute(fixture.caller(as), { user: { id: fixture.user(who).id }, ...input });
};

describe('role change', () => {
  const ROLES: readonly Role[] = ['owner', 'administrator', 'moderator', 'member', 'guest'];
  const changes = ROLES.flatMap((from) => ROLES.filter((to) => to !== from).map((to) => [from, to] as const)).filter(
    ([from, to]) => from !== 'guest' || (to !== 'owner' && to !== 'administrator'),
  );

  it.each(['everyone', 'members'])(
    'keeps all clients in sync if %s may access all users',
    async (canAccessAllUsers) => {
      for (const [from, to] of changes) {
        const fixture = await createFixture(
          aRealmWith({ permissionOverrides: { canAccessAllUsers } }),
          aUserOfEachRole(),
          aUser({ name: 'target', role: from }),
          aUser({ name: 'gone', isActive: false }),
          aChannel({ name: 'open', subscribers: ['member', 'guest'] }),
          aChannel({ name: 'mine', subscribers: ['member', 'target'] }),
          aChannel({ name: 'closed', privacy: 'privateSharedHistory', subscribers: ['moderator'] }),
          aChannel({ name: 'staff', privacy: 'privateSharedHistory', grantedTo: { canSubscribe: 'moderators' } }),
          aChannel({ name: 'site', privacy: 'webPublic' }),
        );
        await expectInSync(fixture, () => updating(fixture)('owner', 'target', { role: to }));
      }
    },
  );

  it.each<[Role, Role, readonly string[] | null]>([
    ['member', 'moderator', null],
    ['moderator', 'member', null],
    ['member', 'guest', []],
    ['guest', 'member', ['front']],
  ])(
    'sends the default channels and their groups only when the guest role is granted or removed: from %s to %s',
    async (from, to, names) => {
      const fixture = await createFixture(
        aUserOfEachRole(),
        aUser({ name: 'target', role: from }),
        aChannel({ name: 'front', isDefault: true, subscribers: [] }),
        aChannel({ name: 'former', isDefault: true, isArchived: true, subscribers: [] }),
        aChannel({ name: 'other', subscribers: [] }),
      );
      const group = { name: 'doors', description: '', channelIds: [fixture.channel('other').id] };
      const realmId = fixture.realm.id;
      const { id } = await fixture.uow.write(realmId, (tx) => tx.defaultChannelGroups.add({ realmId, ...group }));
      await updating(fixture)('owner', 'target', { role: to });
      const announced = fixture.storage.announced.filter(({ event }) => event.type.startsWith('default_channel'));
      const audience = { kind: 'users', ids: [fixture.user('target').id] };
      const channelIds = names?.map((name) => fixture.channel(name).id);
      const groups = to === 'guest' ? [] : [{ id, ...group }];
      expect(announced.map(({ event, audience }) => ({ event, audience }))).toEqual(
        names === null
          ? []
          : [
              { event: { type: 'default_channels.changed', channelIds }, audience },
              { event: { type: 'default_channel_groups.changed', groups }, audience },
            ],
      );
    },
  );

  it('changes nothing if one part of the request is rejected', async () => {
    const fixture = await createFixture(aUserOfEachRole());
    const attempt = () => updating(fixture)('administrator', 'member', { role: 'guest', fullName: 'x' });
    await expectRefused(fixture, attempt, { code: 'INVALID_USER_NAME' });
  });

  it('publishes nothing if the user already has the role', async () => {
    const fixture = await createFixture(aUserOfEachRole());
    await updating(fixture)('administrator', 'member', { role: 'member', fullName: 'member' });
    expect(fixture.storage.announced).toEqual([]);
  });
});
