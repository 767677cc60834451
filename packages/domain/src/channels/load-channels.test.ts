import { aChannel, aRealmWith, aUser, createFixture, type MemoryFixture } from '@parley/testkit';
import type { Actor } from '../access/actor.js';
import type { ChannelId, UserId } from '../kernel/ids.js';
import { allowed, denied } from '../kernel/permission.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import {
  countPrincipals,
  findPrincipals,
  getReadableChannel,
  listReadableChannels,
  loadChannel,
  type Principals,
} from './channel-access.js';

const scene = () =>
  createFixture(
    aUser({ name: 'member' }),
    aUser({ name: 'guest', role: 'guest' }),
    aUser({ name: 'gone', isActive: false }),
    aUser({ name: 'bot', botOf: 'member' }),
    aChannel({ name: 'public' }),
    aChannel({ name: 'private', privacy: 'privateSharedHistory', subscribers: ['guest'] }),
    aChannel({ name: 'archived', isArchived: true }),
  );

function as<T>(fixture: MemoryFixture, name: string, work: (tx: Transaction, actor: Actor) => Promise<T>): Promise<T> {
  return fixture.uow.write(fixture.realm.id, async (tx) => work(tx, await tx.actors.get(fixture.caller(name))));
}

describe('listReadableChannels', () => {
  const list = async (fixture: MemoryFixture, who: string, names: readonly string[]) =>
    (await as(fixture, who, (tx, actor) => listReadableChannels(tx, actor, names))).map(({ name }) => name);

  it('returns distinct channels in the given order', async () => {
    const fixture = await scene();
    await fixture.add(aChannel({ name: 'other' }));
    expect(await list(fixture, 'member', ['other', ' Public ', 'OTHER'])).toEqual(['other', 'public']);
    expect(await list(fixture, 'guest', ['private'])).toEqual(['private']);
    expect(await as(fixture, 'guest', (tx, actor) => getReadableChannel(tx, actor, 'Private'))).toMatchObject({
      name: 'private',
    });
  });

  it.each([
    ['member', 'private'],
    ['member', 'archived'],
    ['member', 'nowhere'],
    ['guest', 'public'],
  ])('reports to the %s the channel %s as unknown', async (who, name) => {
    await expect(list(await scene(), who, [name])).rejects.toMatchObject({
      code: 'UNKNOWN_CHANNEL',
      message: `Invalid channel name '${name}'`,
    });
  });
});

describe('loadChannel', () => {
  it('applies the rule to the channel and the subscription', async () => {
    const fixture = await scene();
    const { id } = fixture.channel('private');
    for (const [who, isSubscribed] of [
      ['guest', true],
      ['member', false],
    ] as const) {
      const rule = jest.fn(() => allowed);
      const loaded = await as(fixture, who, (tx, actor) => loadChannel(tx, actor, id, rule));
      expect(loaded).toMatchObject({ channel: { id }, isSubscribed });
      expect(rule).toHaveBeenCalledWith(expect.anything(), loaded.channel, isSubscribed);
    }
    const refusing = () => denied('NOT_PERMITTED', 'No');
    await expect(as(fixture, 'guest', (tx, actor) => loadChannel(tx, actor, id, refusing))).rejects.toMatchObject({
      code: 'NOT_PERMITTED',
    });
  });

  it('reports a nonexistent channel as unknown', async () => {
    const fixture = await scene();
    const loading = as(fixture, 'guest', (tx, actor) => loadChannel(tx, actor, 99 as ChannelId, () => allowed));
    await expect(loading).rejects.toMatchObject({ code: 'UNKNOWN_CHANNEL' });
  });
});

describe('principals', () => {
  const realmUrls = { emailDomainOf: () => 'chat.example' } as unknown as Parameters<typeof findPrincipals>[4];
  const find = (fixture: MemoryFixture, who: string, principals: Principals) =>
    as(fixture, who, async (tx, actor) => {
      const realm = await tx.realms.get(actor.realmId);
      return (await findPrincipals(tx, actor, realm, principals, realmUrls)).map(({ id }) => id);
    });
  const addressOf = (id: UserId) => `user${id}@chat.example`;

  it('are counted', () => {
    expect(countPrincipals(null)).toBe(1);
    expect(countPrincipals([1, 2] as UserId[])).toBe(2);
    expect(countPrincipals({ emails: ['a', 'b', 'c'] })).toBe(3);
  });

  it('are found by id or address, each once', async () => {
    const fixture = await scene();
    const [member, bot] = ['member', 'bot'].map((name) => fixture.user(name).id) as [UserId, UserId];
    expect(await find(fixture, 'member', [bot, member, bot])).toEqual([bot, member]);
    expect(await find(fixture, 'member', { emails: [addressOf(member), addressOf(bot), addressOf(bot)] })).toEqual([
      member,
      bot,
    ]);
  });

  it('are rejected if one is unknown or deactivated', async () => {
    const fixture = await scene();
    const { id } = fixture.user('member');
    const unknown = { message: 'No such user' };
    await expect(find(fixture, 'member', [id, 99 as UserId])).rejects.toMatchObject(unknown);
    await expect(find(fixture, 'member', { emails: ['nobody@chat.example'] })).rejects.toMatchObject(unknown);
    await expect(find(fixture, 'member', [fixture.user('gone').id])).rejects.toMatchObject({
      message: 'User is deactivated',
    });
  });

  it('are rejected if a guest may not access them', async () => {
    const fixture = await scene();
    await fixture.add(aRealmWith({ permissionOverrides: { canAccessAllUsers: 'members' } }));
    await expect(find(fixture, 'guest', [fixture.user('member').id])).rejects.toMatchObject({
      message: 'Insufficient permission',
    });
  });
});
