import {
  aChannel,
  aGroup,
  aMessage,
  anotherRealm,
  aRealmWith,
  aUser,
  aUserOfEachRole,
  createFixture,
  expectRefused,
  type FixtureStep,
  type MemoryFixture,
  OverwhelmedRenderer,
  sending,
} from '@parley/testkit';
import type { ChannelId, UserId } from '../kernel/ids.js';
import type { Addressee, SendMessageInput } from './message-sender.js';

type Draft = Partial<SendMessageInput>;

const toChannel = (name: string): Addressee => ({ kind: 'channelName', name });
const toPeople = (...ids: readonly number[]): Addressee => ({ kind: 'userIds', ids: ids as UserId[] });
const toEmails = (...emails: readonly string[]): Addressee => ({ kind: 'emails', emails });
const cast = (...pieces: readonly FixtureStep[]) =>
  createFixture(aUserOfEachRole(), aChannel({ name: 'Denmark', subscribers: ['owner', 'member', 'guest'] }), ...pieces);

describe('SendMessage validation order', () => {
  const empty = { content: ' \n' };

  /** Each row also violates the rules tested by later rows. */
  it.each<[string, Addressee, Draft, object]>([
    ['no default channel', { kind: 'defaultChannel' }, { topic: null, ...empty }, { message: 'Missing channel' }],
    ['no topic', toChannel('nowhere'), { topic: null, ...empty }, { message: 'Missing topic' }],
    [
      'an invalid topic',
      toChannel('nowhere'),
      { topic: ' Test\n\rTopic', ...empty },
      { message: 'Invalid character in topic, at position 5!' },
    ],
    ['no recipients', toPeople(), empty, { message: 'Message must have recipients' }],
    ['no recipient addresses', toEmails(), empty, { message: 'Message must have recipients' }],
    ['unknown users', toPeople(1, 9998, 9999), empty, { message: 'Invalid user ID 9998' }],
    [
      'unknown addresses',
      toEmails('owner@example.com', 'x@example.com'),
      empty,
      { message: "Invalid email 'x@example.com'" },
    ],
    ['no content', toChannel('nowhere'), empty, { message: 'Message must not be empty' }],
    ['null bytes', toChannel('nowhere'), { content: 'a\0b' }, { message: 'Message must not contain null bytes' }],
    [
      'an unknown channel name',
      toChannel(' <b>&x '),
      {},
      {
        code: 'UNKNOWN_DESTINATION',
        message: "Channel '<b>&x' does not exist",
        details: { channelName: '<b>&x' },
      },
    ],
    [
      'an unknown channel id',
      { kind: 'channelId', id: 99 as ChannelId },
      {},
      { code: 'UNKNOWN_DESTINATION', message: "Channel with ID '99' does not exist", details: { channelId: 99 } },
    ],
    ['a blank channel name', toChannel(' '), {}, { message: "Channel name can't be empty." }],
  ])('rejects a message with %s, in contract order', async (_, to, draft, refusal) => {
    const fixture = await cast();
    await expectRefused(fixture, () => sending(fixture)('member', to, draft), refusal);
  });

  it.each<[string, string, object]>([
    ['readonly', 'moderator', { message: 'You do not have permission to post in this channel.' }],
    ['archived', 'member', { message: "Not authorized to send to channel 'archived'" }],
    ['private', 'administrator', { message: "Not authorized to send to channel 'private'" }],
    ['Denmark', 'loner', { message: "Not authorized to send to channel 'Denmark'" }],
    ['settled', 'member', { message: 'You do not have permission to create new topics in this channel.' }],
    [
      'silent',
      'member',
      { code: 'EMPTY_TOPIC_REQUIRED', message: 'Only the general chat topic is allowed in this channel.' },
    ],
    ['open', 'member', { message: 'Unable to render message' }],
  ])('rejects messages to %s by %s before rendering', async (channel, who, refusal) => {
    const fixture = await cast(
      aUser({ name: 'loner', role: 'guest' }),
      aChannel({ name: 'readonly', isArchived: true, grantedTo: { canSendMessage: 'administrators' } }),
      aChannel({ name: 'archived', isArchived: true, subscribers: ['member'] }),
      aChannel({ name: 'private', privacy: 'privateSharedHistory', grantedTo: { canCreateTopic: 'nobody' } }),
      aChannel({ name: 'settled', topicsPolicy: 'emptyTopicOnly', grantedTo: { canCreateTopic: 'moderators' } }),
      aChannel({ name: 'silent', topicsPolicy: 'emptyTopicOnly' }),
      aChannel({ name: 'open' }),
    );
    await expectRefused(fixture, () => sending(fixture, new OverwhelmedRenderer())(who, toChannel(channel)), refusal);
  });

  it.each<[string, string, object]>([
    ['vault', 'member', {}],
    ['vault', 'guest', {}],
    ['vault', 'robot', {}],
    ['closed', 'member', {}],
    ['Denmark', 'loner', {}],
    ['vault', 'administrator', { message: "Not authorized to send to channel 'vault'" }],
    ['public', 'member', { message: 'You do not have permission to post in this channel.' }],
  ])(
    'rejects the id of %s like an unknown one if %s may not see it (contract decision 20)',
    async (name, who, seen) => {
      const fixture = await cast(
        aUser({ name: 'loner', role: 'guest' }),
        aUser({ name: 'robot', botOf: 'member' }),
        aChannel({ name: 'vault', privacy: 'privateSharedHistory', subscribers: ['owner'] }),
        aChannel({
          name: 'closed',
          privacy: 'privateSharedHistory',
          isArchived: true,
          grantedTo: { canSendMessage: 'nobody' },
        }),
        aChannel({ name: 'public', grantedTo: { canSendMessage: 'nobody' } }),
      );
      const { id } = fixture.channel(name);
      const unknown = {
        code: 'UNKNOWN_DESTINATION',
        message: `Channel with ID '${id}' does not exist`,
        details: { channelId: id },
      };
      const refusal = Object.keys(seen).length === 0 ? unknown : { code: 'CANNOT_POST_IN_CHANNEL', ...seen };
      await expect(sending(fixture)(who, { kind: 'channelId', id })).rejects.toMatchObject(refusal);
    },
  );

  it('reports a hidden channel in the typed spelling', async () => {
    const fixture = await cast(aChannel({ name: 'Vault', privacy: 'privateSharedHistory' }));
    for (const [who, name] of [
      ['member', 'VAULT'],
      ['administrator', 'Vault'],
    ] as const) {
      await expectRefused(fixture, () => sending(fixture)(who, toChannel(' VAULT ')), {
        message: `Not authorized to send to channel '${name}'`,
      });
    }
  });

  it('allows posting in existing topics without permission to create topics', async () => {
    const fixture = await cast(
      aChannel({ name: 'settled', grantedTo: { canCreateTopic: 'moderators' } }),
      aMessage({ from: 'moderator', to: 'settled', topic: 'PLANS' }),
    );
    await expect(sending(fixture)('member', toChannel('settled'))).resolves.toMatchObject({ newVisibility: null });
  });

  it('does not find channels and users of other realms', async () => {
    const fixture = await cast();
    const elsewhere = await anotherRealm(fixture);
    const send = sending(fixture);
    const otherRealmUser = elsewhere.user('otherRealmUser');
    const { id } = elsewhere.channel('theirs');
    await expectRefused(fixture, () => send('owner', { kind: 'channelId', id }), { code: 'UNKNOWN_DESTINATION' });
    await expectRefused(fixture, () => send('owner', toChannel('theirs')), { code: 'UNKNOWN_DESTINATION' });
    await expectRefused(fixture, () => send('owner', toPeople(otherRealmUser.id)), {
      message: `Invalid user ID ${otherRealmUser.id}`,
    });
    await expectRefused(fixture, () => send('owner', toEmails(otherRealmUser.email)), {
      message: `Invalid email '${otherRealmUser.email}'`,
    });
  });

  it('does not resolve hidden emails', async () => {
    const fixture = await cast(async (theScene, tx) => {
      const owner = theScene.user('owner');
      await tx.users.update({ ...owner, settings: { ...owner.settings, emailAddressVisibility: 'members' } });
    });
    await expectRefused(fixture, () => sending(fixture)('member', toEmails('owner@example.com')), {
      message: "Invalid email 'owner@example.com'",
    });
  });
});

describe('SendMessage direct message permissions', () => {
  const gone = aUser({ name: 'gone', isActive: false });
  const idOf = (fixture: MemoryFixture, name: string) => fixture.user(name).id as number;
  const members = (...names: readonly string[]) => aGroup({ name: 'some', members: names });

  it('rejects inaccessible recipients of a limited guest before revealing deactivated users', async () => {
    const fixture = await cast(aRealmWith({ permissionOverrides: { canAccessAllUsers: 'members' } }), gone);
    const send = sending(fixture);
    const refusal = { message: 'You do not have permission to access some of the recipients.' };
    await expectRefused(fixture, () => send('guest', toPeople(idOf(fixture, 'gone'))), refusal);
    await expectRefused(
      fixture,
      () => send('guest', toPeople(idOf(fixture, 'member'), idOf(fixture, 'moderator'))),
      refusal,
    );
  });

  it('rejects deactivated users and names their visible email', async () => {
    const fixture = await cast(gone);
    await expectRefused(fixture, () => sending(fixture)('member', toPeople(idOf(fixture, 'gone'))), {
      message: "'gone@example.com' is no longer using Zulip.",
    });
  });

  it('rejects direct messages if they are disabled', async () => {
    const fixture = await cast(aRealmWith({ permissionOverrides: { directMessagePermission: 'nobody' } }));
    await expectRefused(fixture, () => sending(fixture)('owner', toPeople(idOf(fixture, 'member'))), {
      message: 'Direct messages are disabled in this organization.',
    });
  });

  it('requires a participant who may authorize the conversation', async () => {
    const fixture = await cast(members('moderator'), aRealmWith({}));
    await fixture.add(aRealmWith({ permissionOverrides: { directMessagePermission: 'some' } }));
    const send = sending(fixture);
    await expectRefused(fixture, () => send('member', toPeople(idOf(fixture, 'owner'))), {
      message: 'This conversation does not include any users who can authorize it.',
    });
    await send('member', toPeople(idOf(fixture, 'moderator'), idOf(fixture, 'owner')));
  });

  it('rejects starting a conversation without the permission', async () => {
    const fixture = await cast(aRealmWith({ permissionOverrides: { directMessageInitiator: 'moderators' } }));
    const send = sending(fixture);
    const { guest, moderator } = { guest: idOf(fixture, 'guest'), moderator: idOf(fixture, 'moderator') };
    await expectRefused(fixture, () => send('guest', toPeople(moderator)), {
      message: 'You do not have permission to initiate direct message conversations.',
    });
    await send('moderator', toPeople(guest));
    await send('guest', toPeople(moderator));
  });

  it('rejects restarting a conversation after all its messages were deleted', async () => {
    const fixture = await cast(aRealmWith({ permissionOverrides: { directMessageInitiator: 'moderators' } }));
    const send = sending(fixture);
    const { guest, moderator } = { guest: idOf(fixture, 'guest'), moderator: idOf(fixture, 'moderator') };
    const first = await send('moderator', toPeople(guest));
    const second = await send('moderator', toPeople(guest));
    await fixture.uow.write(fixture.realm.id, (tx) => tx.messages.remove(fixture.realm.id, [first.id]));
    const third = await send('guest', toPeople(moderator));
    await fixture.uow.write(fixture.realm.id, (tx) => tx.messages.remove(fixture.realm.id, [second.id, third.id]));
    await expectRefused(fixture, () => send('guest', toPeople(moderator)), {
      message: 'You do not have permission to initiate direct message conversations.',
    });
  });

  it('exempts messages to bots, from bots and to oneself', async () => {
    const fixture = await cast(
      aRealmWith({ permissionOverrides: { directMessagePermission: 'nobody', directMessageInitiator: 'nobody' } }),
      aUser({ name: 'robot', botOf: 'member' }),
    );
    const send = sending(fixture);
    await send('member', toPeople(idOf(fixture, 'robot'), idOf(fixture, 'member')));
    await send('member', toPeople(idOf(fixture, 'member')));
    await send('robot', toPeople(idOf(fixture, 'owner')));
  });
});

describe('SendMessage mention permissions', () => {
  const crowd = (count: number) => Array.from({ length: count }, (_, index) => `user${index}`);

  it.each([
    ['member', 15, true],
    ['member', 16, false],
    ['administrator', 16, true],
  ])('decides if the %s may mention everyone in a channel of %d: %s', async (who, count, allowed) => {
    const names = crowd(count);
    const fixture = await cast(...names.map((name) => aUser({ name })), aChannel({ name: 'big', subscribers: names }));
    const attempt = () => sending(fixture)(who, toChannel('big'), { content: '@**all**' });
    if (allowed) await attempt();
    else {
      await expectRefused(fixture, attempt, {
        code: 'CHANNEL_WILDCARD_NOT_ALLOWED',
        message: 'You do not have permission to use channel wildcard mentions in this channel.',
      });
    }
  });

  it.each([
    [14, true],
    [15, false],
  ])('decides if a topic with %d others may be mentioned: %s', async (count, allowed) => {
    const names = crowd(count);
    const fixture = await cast(
      ...names.map((name) => aUser({ name })),
      ...names.map((from) => aMessage({ from, to: 'Denmark', topic: 'plans' })),
    );
    const attempt = () => sending(fixture)('member', toChannel('Denmark'), { content: '@**topic**' });
    if (allowed) await attempt();
    else {
      await expectRefused(fixture, attempt, {
        code: 'TOPIC_WILDCARD_NOT_ALLOWED',
        message: 'You do not have permission to use topic wildcard mentions in this topic.',
      });
    }
  });

  it('ignores the number of subscribers for silent mentions', async () => {
    const names = crowd(16);
    const fixture = await cast(...names.map((name) => aUser({ name })), aChannel({ name: 'big', subscribers: names }));
    await sending(fixture)('member', toChannel('big'), { content: '@_**all** @_*role:owners*' });
  });

  it('rejects forbidden group mentions in channels and direct messages', async () => {
    const fixture = await cast();
    const send = sending(fixture);
    const refusal = {
      code: 'CANNOT_MENTION_GROUP',
      message: "You are not allowed to mention user group 'role:owners'.",
    };
    const content = '@*role:owners*';
    await expectRefused(fixture, () => send('member', toChannel('Denmark'), { content }), refusal);
    await expectRefused(fixture, () => send('member', toPeople(fixture.user('owner').id), { content }), refusal);
  });
});
