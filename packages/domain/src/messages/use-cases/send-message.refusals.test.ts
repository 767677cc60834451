import {
  aChannel,
  aGroup,
  aMessage,
  anotherRealm,
  aRealmWith,
  aUser,
  aUserOfEachRole,
  expectRefused,
  given,
  type MemoryScene,
  type Piece,
  PlainRenderer,
  sending,
} from '@parley/testkit';
import { invalidInput } from '../../shared/errors.js';
import type { ChannelId, UserId } from '../../shared/ids.js';
import type { Addressee, SendMessageInput } from './send-message.js';

type Draft = Partial<SendMessageInput>;

class Overwhelmed extends PlainRenderer {
  override parse(): never {
    throw invalidInput('Unable to render message');
  }
}
const toChannel = (name: string): Addressee => ({ kind: 'channelName', name });
const toPeople = (...ids: readonly number[]): Addressee => ({ kind: 'userIds', ids: ids as UserId[] });
const toEmails = (...emails: readonly string[]): Addressee => ({ kind: 'emails', emails });
const cast = (...pieces: readonly Piece[]) =>
  given(aUserOfEachRole(), aChannel({ name: 'Denmark', subscribers: ['owner', 'member', 'guest'] }), ...pieces);

describe('sending is refused in order', () => {
  const empty = { content: ' \n' };

  /** Each row is also wrong in what later rows are about. */
  it.each<[string, Addressee, Draft, object]>([
    ['no channel of his own', { kind: 'defaultChannel' }, { topic: null, ...empty }, { message: 'Missing channel' }],
    ['no topic', toChannel('nowhere'), { topic: null, ...empty }, { message: 'Missing topic' }],
    [
      'an odd topic',
      toChannel('nowhere'),
      { topic: ' Test\n\rTopic', ...empty },
      { message: 'Invalid character in topic, at position 5!' },
    ],
    ['nobody', toPeople(), empty, { message: 'Message must have recipients' }],
    ['nobody by address', toEmails(), empty, { message: 'Message must have recipients' }],
    ['unknown people', toPeople(1, 9998, 9999), empty, { message: 'Invalid user ID 9998' }],
    [
      'unknown addresses',
      toEmails('owner@example.com', 'x@example.com'),
      empty,
      { message: "Invalid email 'x@example.com'" },
    ],
    ['no content', toChannel('nowhere'), empty, { message: 'Message must not be empty' }],
    ['null bytes', toChannel('nowhere'), { content: 'a\0b' }, { message: 'Message must not contain null bytes' }],
    [
      'no such channel',
      toChannel(' <b>&x '),
      {},
      {
        code: 'CHANNEL_NOT_FOUND',
        message: "Channel '&lt;b&gt;&amp;x' does not exist",
        details: { channelName: '&lt;b&gt;&amp;x' },
      },
    ],
    [
      'no such number',
      { kind: 'channelId', id: 99 as ChannelId },
      {},
      { code: 'CHANNEL_NOT_FOUND', message: "Channel with ID '99' does not exist", details: { channelId: 99 } },
    ],
    ['a blank channel', toChannel(' '), {}, { message: "Channel name can't be empty." }],
  ])('for %s', async (_, to, draft, refusal) => {
    const scene = await cast();
    await expectRefused(scene, () => sending(scene)('member', to, draft), refusal);
  });

  it.each<[string, string, object]>([
    ['readonly', 'moderator', { message: 'You do not have permission to post in this channel.' }],
    ['archived', 'member', { message: "Not authorized to send to channel 'archived'" }],
    ['private', 'administrator', { message: "Not authorized to send to channel 'private'" }],
    ['Denmark', 'loner', { message: "Not authorized to send to channel 'Denmark'" }],
    ['settled', 'member', { message: 'You do not have permission to create new topics in this channel.' }],
    ['silent', 'member', { code: 'INVALID_INPUT', message: 'Only the general chat topic is allowed in this channel.' }],
    ['open', 'member', { message: 'Unable to render message' }],
  ])('to %s by %s, before rendering', async (channel, who, refusal) => {
    const scene = await cast(
      aUser({ name: 'loner', role: 'guest' }),
      aChannel({ name: 'readonly', isArchived: true, grantedTo: { canSendMessage: 'administrators' } }),
      aChannel({ name: 'archived', isArchived: true, subscribers: ['member'] }),
      aChannel({ name: 'private', privacy: 'privateSharedHistory', grantedTo: { canCreateTopic: 'nobody' } }),
      aChannel({ name: 'settled', topicsPolicy: 'empty_topic_only', grantedTo: { canCreateTopic: 'moderators' } }),
      aChannel({ name: 'silent', topicsPolicy: 'empty_topic_only' }),
      aChannel({ name: 'open' }),
    );
    await expectRefused(scene, () => sending(scene, new Overwhelmed())(who, toChannel(channel)), refusal);
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
    'by the id of %s as for an unknown one, where %s may not see it (contract decision 20)',
    async (name, who, seen) => {
      const scene = await cast(
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
      const { id } = scene.channel(name);
      const unknown = {
        code: 'CHANNEL_NOT_FOUND',
        message: `Channel with ID '${id}' does not exist`,
        details: { channelId: id },
      };
      const refusal = Object.keys(seen).length === 0 ? unknown : { code: 'NOT_PERMITTED', ...seen };
      await expect(sending(scene)(who, { kind: 'channelId', id })).rejects.toMatchObject(refusal);
    },
  );

  it('by a hidden name in the spelling that was typed', async () => {
    const scene = await cast(aChannel({ name: 'Vault', privacy: 'privateSharedHistory' }));
    for (const [who, name] of [
      ['member', 'VAULT'],
      ['administrator', 'Vault'],
    ] as const) {
      await expectRefused(scene, () => sending(scene)(who, toChannel(' VAULT ')), {
        message: `Not authorized to send to channel '${name}'`,
      });
    }
  });

  it('goes on in a topic that exists, whoever may create new ones', async () => {
    const scene = await cast(
      aChannel({ name: 'settled', grantedTo: { canCreateTopic: 'moderators' } }),
      aMessage({ from: 'moderator', to: 'settled', topic: 'PLANS' }),
    );
    await expect(sending(scene)('member', toChannel('settled'))).resolves.toMatchObject({ newVisibility: null });
  });

  it('knows nothing of other realms', async () => {
    const scene = await cast();
    const elsewhere = await anotherRealm(scene);
    const send = sending(scene);
    const stranger = elsewhere.user('stranger');
    const { id } = elsewhere.channel('theirs');
    await expectRefused(scene, () => send('owner', { kind: 'channelId', id }), { code: 'CHANNEL_NOT_FOUND' });
    await expectRefused(scene, () => send('owner', toChannel('theirs')), { code: 'CHANNEL_NOT_FOUND' });
    await expectRefused(scene, () => send('owner', toPeople(stranger.id)), {
      message: `Invalid user ID ${stranger.id}`,
    });
    await expectRefused(scene, () => send('owner', toEmails(stranger.email)), {
      message: `Invalid email '${stranger.email}'`,
    });
  });

  it('does not know people by addresses they hide', async () => {
    const scene = await cast(async (theScene, tx) => {
      const owner = theScene.user('owner');
      await tx.users.update({ ...owner, settings: { ...owner.settings, emailAddressVisibility: 'members' } });
    });
    await expectRefused(scene, () => sending(scene)('member', toEmails('owner@example.com')), {
      message: "Invalid email 'owner@example.com'",
    });
  });
});

describe('direct messages are refused', () => {
  const gone = aUser({ name: 'gone', isActive: false });
  const idOf = (scene: MemoryScene, name: string) => scene.user(name).id as number;
  const members = (...names: readonly string[]) => aGroup({ name: 'some', members: names });

  it('by a restricted guest to strangers, before it shows who is gone', async () => {
    const scene = await cast(aRealmWith({ grants: { canAccessAllUsers: 'members' } }), gone);
    const send = sending(scene);
    const refusal = { message: 'You do not have permission to access some of the recipients.' };
    await expectRefused(scene, () => send('guest', toPeople(idOf(scene, 'gone'))), refusal);
    await expectRefused(scene, () => send('guest', toPeople(idOf(scene, 'member'), idOf(scene, 'moderator'))), refusal);
  });

  it('to those who are gone, by the address others know', async () => {
    const scene = await cast(gone);
    await expectRefused(scene, () => sending(scene)('member', toPeople(idOf(scene, 'gone'))), {
      message: "'gone@example.com' is no longer using Zulip.",
    });
  });

  it('where nobody may have any', async () => {
    const scene = await cast(aRealmWith({ grants: { directMessagePermission: 'nobody' } }));
    await expectRefused(scene, () => sending(scene)('owner', toPeople(idOf(scene, 'member'))), {
      message: 'Direct messages are disabled in this organization.',
    });
  });

  it('unless somebody in them may have them', async () => {
    const scene = await cast(members('moderator'), aRealmWith({}));
    await scene.add(aRealmWith({ grants: { directMessagePermission: 'some' } }));
    const send = sending(scene);
    await expectRefused(scene, () => send('member', toPeople(idOf(scene, 'owner'))), {
      message: 'This conversation does not include any users who can authorize it.',
    });
    await send('member', toPeople(idOf(scene, 'moderator'), idOf(scene, 'owner')));
  });

  it('to begin with by those who may not begin', async () => {
    const scene = await cast(aRealmWith({ grants: { directMessageInitiator: 'moderators' } }));
    const send = sending(scene);
    const { guest, moderator } = { guest: idOf(scene, 'guest'), moderator: idOf(scene, 'moderator') };
    await expectRefused(scene, () => send('guest', toPeople(moderator)), {
      message: 'You do not have permission to initiate direct message conversations.',
    });
    await send('moderator', toPeople(guest));
    await send('guest', toPeople(moderator));
  });

  it('to begin anew, once nothing is left of a conversation', async () => {
    const scene = await cast(aRealmWith({ grants: { directMessageInitiator: 'moderators' } }));
    const send = sending(scene);
    const { guest, moderator } = { guest: idOf(scene, 'guest'), moderator: idOf(scene, 'moderator') };
    const first = await send('moderator', toPeople(guest));
    const second = await send('moderator', toPeople(guest));
    await scene.uow.write((tx) => tx.messages.remove(scene.realm.id, [first.id]));
    const third = await send('guest', toPeople(moderator));
    await scene.uow.write((tx) => tx.messages.remove(scene.realm.id, [second.id, third.id]));
    await expectRefused(scene, () => send('guest', toPeople(moderator)), {
      message: 'You do not have permission to initiate direct message conversations.',
    });
  });

  it('but never to bots, from bots, or to oneself', async () => {
    const scene = await cast(
      aRealmWith({ grants: { directMessagePermission: 'nobody', directMessageInitiator: 'nobody' } }),
      aUser({ name: 'robot', botOf: 'member' }),
    );
    const send = sending(scene);
    await send('member', toPeople(idOf(scene, 'robot'), idOf(scene, 'member')));
    await send('member', toPeople(idOf(scene, 'member')));
    await send('robot', toPeople(idOf(scene, 'owner')));
  });
});

describe('mentions are refused', () => {
  const crowd = (count: number) => Array.from({ length: count }, (_, index) => `user${index}`);

  it.each([
    ['member', 15, true],
    ['member', 16, false],
    ['administrator', 16, true],
  ])('by the %s to everybody in a channel of %d: allowed %s', async (who, count, allowed) => {
    const names = crowd(count);
    const scene = await cast(...names.map((name) => aUser({ name })), aChannel({ name: 'big', subscribers: names }));
    const attempt = () => sending(scene)(who, toChannel('big'), { content: '@**all**' });
    if (allowed) await attempt();
    else {
      await expectRefused(scene, attempt, {
        code: 'CHANNEL_WILDCARD_NOT_ALLOWED',
        message: 'You do not have permission to use channel wildcard mentions in this channel.',
      });
    }
  });

  it.each([
    [14, true],
    [15, false],
  ])('to a topic of %d others: allowed %s', async (count, allowed) => {
    const names = crowd(count);
    const scene = await cast(
      ...names.map((name) => aUser({ name })),
      ...names.map((from) => aMessage({ from, to: 'Denmark', topic: 'plans' })),
    );
    const attempt = () => sending(scene)('member', toChannel('Denmark'), { content: '@**topic**' });
    if (allowed) await attempt();
    else {
      await expectRefused(scene, attempt, {
        code: 'TOPIC_WILDCARD_NOT_ALLOWED',
        message: 'You do not have permission to use topic wildcard mentions in this topic.',
      });
    }
  });

  it('does not mind how many there are when nobody is told', async () => {
    const names = crowd(16);
    const scene = await cast(...names.map((name) => aUser({ name })), aChannel({ name: 'big', subscribers: names }));
    await sending(scene)('member', toChannel('big'), { content: '@_**all** @_*role:owners*' });
  });

  it('of groups that one may not mention, in direct messages too', async () => {
    const scene = await cast();
    const send = sending(scene);
    const refusal = { code: 'NOT_PERMITTED', message: "You are not allowed to mention user group 'role:owners'." };
    const content = '@*role:owners*';
    await expectRefused(scene, () => send('member', toChannel('Denmark'), { content }), refusal);
    await expectRefused(scene, () => send('member', toPeople(scene.user('owner').id), { content }), refusal);
  });
});
