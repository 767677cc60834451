import {
  aChannel,
  aGroup,
  anotherRealm,
  aUser,
  aUserOfEachRole,
  createFixture,
  type MemoryFixture,
} from '@parley/testkit';
import { FindChannelId, ListChannels, type ListChannelsInput } from './channels.use-cases.js';
import { ListSubscriptions } from './subscriptions.use-cases.js';

const defaults: ListChannelsInput = {
  includePublic: true,
  includeWebPublic: false,
  includeSubscribed: true,
  includeOwnerSubscribed: false,
  includeReadable: false,
  includeAll: false,
  includeAllActive: false,
  excludeArchived: true,
  includeDefault: false,
};
const none = { includePublic: false, includeSubscribed: false };

/** Creates channels and a bot that is a guest owned by the member. */
const town = async () => {
  const fixture = await createFixture(
    aUserOfEachRole(),
    aUser({ name: 'robot', botOf: 'member', role: 'guest' }),
    aGroup({ name: 'readers', members: ['moderator', 'guest'] }),
    aChannel({ name: 'public', isDefault: true }),
    aChannel({ name: 'web', privacy: 'webPublic' }),
    aChannel({ name: 'core', privacy: 'privateSharedHistory', subscribers: ['member', 'guest'] }),
    aChannel({ name: 'club', privacy: 'privateProtectedHistory', grantedTo: { canSubscribe: 'readers' } }),
    aChannel({ name: 'Old', isArchived: true, isDefault: true, subscribers: ['guest'] }),
    aChannel({ name: 'oldWeb', isArchived: true, privacy: 'webPublic' }),
  );
  await anotherRealm(fixture);
  return fixture;
};

describe('ListChannels', () => {
  it.each<[string, string, Partial<ListChannelsInput>, readonly string[]]>([
    ['default selection', 'member', {}, ['core', 'public', 'web']],
    ['default selection for guests', 'guest', {}, ['core']],
    [
      'default selection with archived channels',
      'member',
      { excludeArchived: false },
      ['Old', 'core', 'oldWeb', 'public', 'web'],
    ],
    ['default selection with archived channels for guests', 'guest', { excludeArchived: false }, ['Old', 'core']],
    ['nothing with every source off', 'member', none, []],
    ['only subscribed channels', 'member', { includePublic: false }, ['core']],
    ['only public channels', 'owner', { includeSubscribed: false }, ['public', 'web']],
    ['web-public channels', 'guest', { ...none, includeWebPublic: true }, ['web']],
    [
      'web-public channels, including archived ones',
      'guest',
      { ...none, includeWebPublic: true, excludeArchived: false },
      ['oldWeb', 'web'],
    ],
    ['readable channels', 'moderator', { ...none, includeReadable: true }, ['club', 'public', 'web']],
    ['readable channels for administrators', 'administrator', { includeReadable: true }, ['public', 'web']],
    ['readable channels for guests, regardless of their groups', 'guest', { includeReadable: true }, ['core', 'web']],
    [
      'all channels for administrators',
      'administrator',
      { ...none, includeAll: true },
      ['club', 'core', 'public', 'web'],
    ],
    ['all channels for members', 'member', { ...none, includeAll: true }, ['core', 'public', 'web']],
    ['all channels for guests', 'guest', { includeAll: true }, ['core', 'web']],
    [
      'all channels under the old option name',
      'owner',
      { ...none, includeAllActive: true },
      ['club', 'core', 'public', 'web'],
    ],
    ['default channels', 'member', { ...none, includeDefault: true }, ['public']],
    ['no default channels for unsubscribed guests', 'robot', { ...none, includeDefault: true }, []],
    ['channels of the bot’s owner', 'robot', { ...none, includeOwnerSubscribed: true }, ['core']],
    [
      'channels of the bot’s owner and readable channels',
      'robot',
      { includeReadable: true, includeOwnerSubscribed: true },
      ['core', 'web'],
    ],
    ['no owner’s channels for humans', 'owner', { ...none, includeOwnerSubscribed: true }, []],
  ])('lists %s (%s)', async (_, who, input, names) => {
    const fixture = await town();
    const { channels } = await new ListChannels(fixture.uow).execute(fixture.caller(who), { ...defaults, ...input });
    expect(channels.map(({ name }) => name)).toEqual(names);
  });

  it('rejects non-administrators for the legacy option to list all channels', async () => {
    const fixture = await town();
    const listing = new ListChannels(fixture.uow).execute(fixture.caller('moderator'), {
      ...defaults,
      includeAllActive: true,
    });
    await expect(listing).rejects.toMatchObject({ code: 'MUST_BE_ADMINISTRATOR' });
  });
});

describe('FindChannelId', () => {
  const find = (fixture: MemoryFixture, who: string, name: string) =>
    new FindChannelId(fixture.uow).execute(fixture.caller(who), { name });

  it('trims the name and ignores letter case', async () => {
    const fixture = await town();
    expect(await find(fixture, 'member', ' PUBLIC ')).toBe(fixture.channel('public').id);
    expect(await find(fixture, 'moderator', 'club')).toBe(fixture.channel('club').id);
    expect(await find(fixture, 'guest', 'core')).toBe(fixture.channel('core').id);
  });

  it.each([
    ['member', 'nowhere'],
    ['member', 'theirs'],
    ['administrator', 'core'],
    ['guest', 'public'],
    ['guest', 'Old'],
  ])('hides from the %s the channel %s', async (who, name) => {
    const fixture = await town();
    await expect(find(fixture, who, name)).rejects.toMatchObject({
      code: 'UNKNOWN_CHANNEL',
      message: `Invalid channel name '${name}'`,
    });
  });
});

describe('ListSubscriptions', () => {
  it('returns subscriptions to active channels, with subscribers on request', async () => {
    const fixture = await town();
    const list = new ListSubscriptions(fixture.uow);
    const [own, ...others] = await list.execute(fixture.caller('guest'), { includeSubscribers: true });
    expect(others).toEqual([]);
    expect(own).toMatchObject({
      channel: { name: 'core', subscriberCount: 2 },
      subscription: { userId: fixture.user('guest').id },
      subscriberIds: [fixture.user('member').id, fixture.user('guest').id],
    });
    const [bare] = await list.execute(fixture.caller('guest'), { includeSubscribers: false });
    expect(bare?.subscriberIds).toBeNull();
  });
});
