import {
  aChannel,
  aMessage,
  anotherRealm,
  aUser,
  aUserOfEachRole,
  createFixture,
  eventsWithReceivers,
  expectInSync,
  expectRefused,
  type MemoryFixture,
} from '@parley/testkit';
import type { Emoji, UnicodeEmoji } from '../files/emoji.js';
import type { MessageId } from '../kernel/ids.js';
import type { UserSettings } from '../realms/user-settings.js';
import { MAX_REACTION_EMOJI } from './reactions.js';
import { AddReaction, type AddReactionInput, RemoveReaction, type RemoveReactionInput } from './reactions.use-cases.js';

const NAMES: Readonly<Record<string, readonly string[]>> = {
  '1f642': ['smile'],
  '1f44d': ['+1', 'thumbs_up'],
  '1f419': ['octopus'],
};
const unicodeEmoji = (): UnicodeEmoji => ({
  namesByCode: new Map(Object.entries(NAMES)),
  codesByName: new Map(Object.entries(NAMES).flatMap(([code, names]) => names.map((name) => [name, code] as const))),
});

/**
 * Creates messages: 0 public, 1 private with shared history, 2 with protected history, 3 direct, 4 archived, 5
 * web-public.
 */
const town = () =>
  createFixture(
    aUserOfEachRole(),
    aUser({ name: 'other' }),
    aUser({ name: 'bot', botOf: 'member' }),
    aChannel({ name: 'public', subscribers: ['member', 'guest', 'bot'] }),
    aChannel({ name: 'core', privacy: 'privateSharedHistory', subscribers: ['owner'] }),
    aChannel({ name: 'vault', privacy: 'privateProtectedHistory', subscribers: ['owner'] }),
    aChannel({ name: 'old', subscribers: ['member'], isArchived: true }),
    aChannel({ name: 'web', privacy: 'webPublic', subscribers: ['owner'] }),
    aMessage({ from: 'owner', to: 'public', topic: 'Lunch' }),
    aMessage({ from: 'owner', to: 'core' }),
    aMessage({ from: 'owner', to: 'vault' }),
    aMessage({ from: 'owner', to: ['member'] }),
    aMessage({ from: 'member', to: 'old' }),
    aMessage({ from: 'owner', to: 'web' }),
  );
const idOf = (fixture: MemoryFixture, index: number): MessageId => fixture.messages[index]!.id;
const add = (fixture: MemoryFixture, index: number, input: Partial<AddReactionInput> = {}, who = 'member') =>
  new AddReaction(fixture.uow, unicodeEmoji, fixture.clock).execute(fixture.caller(who), {
    ...{ messageId: idOf(fixture, index), name: 'smile', code: null, type: null },
    ...input,
  });
const remove = (fixture: MemoryFixture, index: number, input: Partial<RemoveReactionInput> = {}, who = 'member') =>
  new RemoveReaction(fixture.uow, unicodeEmoji).execute(fixture.caller(who), {
    ...{ messageId: idOf(fixture, index), name: null, code: null, type: null },
    ...input,
  });
const store = (fixture: MemoryFixture, who: string, emoji: Emoji, index = 0) =>
  fixture.uow.write(fixture.realm.id, (tx) =>
    tx.reactions.add(fixture.realm.id, idOf(fixture, index), { ...emoji, userId: fixture.user(who).id }),
  );
/** Returns the message's reactions, such as `member +1`. */
const shown = (fixture: MemoryFixture, index = 0) =>
  fixture.uow.read(fixture.realm.id, async ({ pages }) => {
    const [view] = await pages.listViews(fixture.realm.id, [idOf(fixture, index)]);
    const names = new Map([...fixture.users].map(([name, { id }]) => [id, name]));
    return (view!.reactions ?? []).map(({ userId, name }) => `${names.get(userId)} ${name}`);
  });
const change = (fixture: MemoryFixture, who: string, settings: Partial<UserSettings>) =>
  fixture.uow.write(fixture.realm.id, async (tx) => {
    const user = (await tx.users.find(fixture.realm.id, fixture.user(who).id))!;
    await tx.users.update({ ...user, settings: { ...user.settings, ...settings } });
  });

const HIDDEN = { code: 'UNKNOWN_MESSAGE', message: 'Invalid message(s)' };

const CUSTOM: Emoji = { type: 'custom', code: '7', name: 'tick' };

describe('AddReaction', () => {
  it.each([
    [{}, 'smile'],
    [{ name: 'thumbs_up' }, 'thumbs_up'],
    [{ name: 'thumbs_up', code: '1f44d', type: 'unicode' as const }, 'thumbs_up'],
    [{ name: 'smile', type: 'unicode' as const }, 'smile'],
    [{ name: 'smile', code: '1f642' }, 'smile'],
    [{ name: 'zulip' }, 'zulip'],
    [{ name: 'zulip', type: 'extra' as const }, 'zulip'],
  ])('accepts a name or the full emoji: %j', async (input, name) => {
    const fixture = await town();
    await expectInSync(fixture, () => add(fixture, 0, input));
    expect(await shown(fixture)).toEqual([`member ${name}`]);
  });

  it.each([
    [{ name: 'nothing' }, 'UNKNOWN_EMOJI', "Emoji 'nothing' does not exist"],
    [{ name: 'nothing', code: '1f642' }, 'UNKNOWN_EMOJI', "Emoji 'nothing' does not exist"],
    [{ name: 'nothing', type: 'unknown' as const }, 'UNKNOWN_EMOJI', "Emoji 'nothing' does not exist"],
    [{ code: '1f642', type: 'unknown' as const }, 'UNKNOWN_EMOJI_TYPE', 'Invalid emoji type.'],
    [{ type: 'unknown' as const }, 'UNKNOWN_EMOJI_TYPE', 'Invalid emoji type.'],
    [{ code: '7', type: 'custom' as const }, 'UNKNOWN_EMOJI', 'Invalid custom emoji.'],
    [{ type: 'custom' as const }, 'UNKNOWN_EMOJI', 'Invalid custom emoji.'],
    [{ code: '1f642', type: 'extra' as const }, 'UNKNOWN_EMOJI', 'Invalid emoji code.'],
    [{ code: 'zulip', type: 'extra' as const }, 'EMOJI_NAME_MISMATCH', 'Invalid emoji name.'],
    [{ code: 'ffff', type: 'unicode' as const }, 'UNKNOWN_EMOJI', 'Invalid emoji code.'],
    [{ code: '1f44d', type: 'unicode' as const }, 'EMOJI_NAME_MISMATCH', 'Invalid emoji name.'],
  ])('rejects %j: %s, %s', async (input, code, message) => {
    const fixture = await town();
    await expectRefused(fixture, () => add(fixture, 0, input), { code, message });
    expect(await shown(fixture)).toEqual([]);
    expect(fixture.storage.announced).toEqual([]);
  });

  it('rejects a second reaction with the same emoji under any name', async () => {
    const fixture = await town();
    await add(fixture, 0, { name: 'thumbs_up' });
    const again = { code: 'REACTION_ALREADY_EXISTS', message: 'Reaction already exists.' };
    await expectRefused(fixture, () => add(fixture, 0, { name: '+1' }), again);
    // The code takes precedence over the name.
    await expectRefused(fixture, () => add(fixture, 0, { name: 'smile', code: '1f44d', type: 'unicode' }), again);
    await add(fixture, 0);
    await add(fixture, 0, { name: '+1' }, 'other');
    expect(await shown(fixture)).toEqual(['member thumbs_up', 'member smile', 'other thumbs_up']);
  });

  it('joins existing reactions with an unavailable emoji under its original name', async () => {
    const fixture = await town();
    await store(fixture, 'owner', CUSTOM);
    await store(fixture, 'owner', { type: 'unicode', code: 'outdated', name: 'old_name' });
    await add(fixture, 0, { name: 'renamed', code: '7', type: 'custom' });
    await add(fixture, 0, { name: '', code: 'outdated', type: 'unicode' });
    expect((await shown(fixture)).slice(2)).toEqual(['member tick', 'member old_name']);
  });

  it.each([
    ['owner', 'yes yes yes yes no yes'],
    ['administrator', 'yes no no no no yes'],
    ['member', 'yes no no yes no yes'],
    ['other', 'yes no no no no yes'],
    ['guest', 'yes no no no no no'],
    ['bot', 'yes no no no no yes'],
  ])('follows message access and mutability: %s %s', async (who, expected) => {
    const fixture = await town();
    const done: string[] = [];
    for (const index of fixture.messages.keys()) {
      const isDone = expected.split(' ')[index] === 'yes';
      await (isDone
        ? add(fixture, index, {}, who)
        : expectRefused(fixture, () => add(fixture, index, {}, who), HIDDEN));
      done.push((await shown(fixture, index)).length > 0 ? 'yes' : 'no');
    }
    expect(done.join(' ')).toBe(expected);
  });

  it('rejects unknown messages and those of another realm before other checks', async () => {
    const fixture = await town();
    const other = await anotherRealm(fixture, aMessage({ from: 'otherRealmUser', to: 'theirs' }));
    for (const messageId of [9999 as MessageId, other.messages[0]!.id]) {
      await expectRefused(fixture, () => add(fixture, 0, { messageId, name: 'nothing' }), HIDDEN);
      await expectRefused(fixture, () => remove(fixture, 0, { messageId }), HIDDEN);
    }
  });

  it('makes a message that was never received the user’s own, as historical', async () => {
    const fixture = await town();
    await expectInSync(fixture, () => add(fixture, 0, {}, 'other'));
    const flags = await fixture.uow.read(fixture.realm.id, (r) =>
      r.personal.listFlags(fixture.viewer('other'), [idOf(fixture, 0)]),
    );
    expect(flags.get(idOf(fixture, 0))).toMatchObject({ historical: true, read: true, starred: false });
    await add(fixture, 0);
    const own = await fixture.uow.read(fixture.realm.id, (r) =>
      r.personal.listFlags(fixture.viewer('member'), [idOf(fixture, 0)]),
    );
    expect(own.get(idOf(fixture, 0))).toMatchObject({ historical: false, read: false });
  });

  it('publishes the reaction to message watchers', async () => {
    const fixture = await town();
    await add(fixture, 0, {}, 'other');
    await add(fixture, 1, {}, 'owner');
    await add(fixture, 2, {}, 'owner');
    await add(fixture, 3);
    expect(await eventsWithReceivers(fixture)).toEqual([
      ['reaction.changed', ['member', 'guest', 'other', 'bot']],
      ['reaction.changed', ['owner']],
      ['reaction.changed', ['owner']],
      ['reaction.changed', ['owner', 'member']],
    ]);
    expect(fixture.storage.announced[0]!.event).toMatchObject({
      op: 'add',
      messageId: idOf(fixture, 0),
      isDirect: false,
      user: { id: fixture.user('other').id, fullName: 'other' },
      emoji: { type: 'unicode', code: '1f642', name: 'smile' },
    });
    expect(fixture.storage.announced[3]!.event).toMatchObject({ isDirect: true });
  });

  it("applies the user's topic policy before publishing the reaction", async () => {
    const fixture = await town();
    for (const who of ['member', 'other', 'bot'])
      await change(fixture, who, { automaticallyFollowTopicsPolicy: 'participating' });
    await add(fixture, 0);
    // The first user is not subscribed, the second is a bot.
    await add(fixture, 0, {}, 'other');
    await add(fixture, 0, {}, 'bot');
    expect(fixture.storage.announced.map(({ event }) => event.type)).toEqual([
      'topic.policy_changed',
      ...Array.from({ length: 3 }, () => 'reaction.changed'),
    ]);
    expect(fixture.storage.announced[0]!.event).toMatchObject({ topic: 'Lunch', visibility: 'followed' });
    await add(fixture, 0, { name: '+1' });
    expect(fixture.storage.announced.at(-2)!.event.type).toBe('reaction.changed');
  });

  it('keeps the topic policy if the user follows topics only on sending', async () => {
    const fixture = await town();
    await change(fixture, 'member', { automaticallyFollowTopicsPolicy: 'sending' });
    await add(fixture, 0);
    expect(fixture.storage.announced.map(({ event }) => event.type)).toEqual(['reaction.changed']);
  });

  it('limits distinct emoji per message but allows joining existing ones', async () => {
    const fixture = await town();
    await fixture.uow.write(fixture.realm.id, async (tx) => {
      for (let code = 0; code < MAX_REACTION_EMOJI; code++) {
        const emoji: Emoji = { type: 'custom', code: String(code), name: `e${code}` };
        await tx.reactions.add(fixture.realm.id, idOf(fixture, 0), { ...emoji, userId: fixture.user('owner').id });
      }
    });
    await expectRefused(fixture, () => add(fixture, 0), {
      code: 'TOO_MANY_REACTIONS',
      message: 'Too many different reactions (limit: 100).',
    });
    await add(fixture, 0, { name: 'e7', code: '7', type: 'custom' });
  });
});

describe('RemoveReaction', () => {
  it.each([
    [{ name: 'thumbs_up' }],
    [{ name: '+1' }],
    [{ code: '1f44d' }],
    [{ code: '1f44d', type: 'unicode' as const }],
    [{ name: 'renamed', code: '1f44d', type: 'unicode' as const }],
    [{ name: 'renamed', code: '1f44d' }],
  ])('removes a reaction by name or by code: %j', async (input) => {
    const fixture = await town();
    await add(fixture, 0, { name: 'thumbs_up' });
    await add(fixture, 0, { name: 'thumbs_up' }, 'other');
    await expectInSync(fixture, () => remove(fixture, 0, input));
    expect(await shown(fixture)).toEqual(['other thumbs_up']);
    expect(fixture.storage.announced.at(-1)!.event).toMatchObject({ op: 'remove', emoji: { name: 'thumbs_up' } });
  });

  it.each([[{ name: 'zulip' }], [{ name: 'zulip', code: 'zulip' }], [{ code: 'zulip', type: 'extra' as const }]])(
    'accepts the extra emoji by name: %j',
    async (input) => {
      const fixture = await town();
      await add(fixture, 0, { name: 'zulip' });
      await remove(fixture, 0, input);
      expect(await shown(fixture)).toEqual([]);
    },
  );

  it('removes reactions with deleted emoji', async () => {
    const fixture = await town();
    await store(fixture, 'member', CUSTOM);
    await remove(fixture, 0, { code: '7', type: 'custom' });
    expect(await shown(fixture)).toEqual([]);
  });

  it.each([
    [{}, 'EMOJI_REQUIRED', 'The name or the code of an emoji is needed'],
    [{ type: 'unicode' as const }, 'EMOJI_REQUIRED', 'The name or the code of an emoji is needed'],
    [{ name: 'nothing' }, 'UNKNOWN_EMOJI', "Emoji 'nothing' does not exist"],
    [{ name: 'smile', type: 'unknown' as const }, 'UNKNOWN_EMOJI', 'Invalid emoji code.'],
    [{ code: '1f642', type: 'unknown' as const }, 'UNKNOWN_EMOJI', 'Invalid emoji code.'],
    [{ code: 'ffff' }, 'UNKNOWN_EMOJI', 'Invalid emoji code.'],
    [{ code: '7', type: 'custom' as const }, 'UNKNOWN_EMOJI', 'Invalid emoji code.'],
    [{ name: 'zulip', type: 'unicode' as const }, 'UNKNOWN_EMOJI', 'Invalid emoji code.'],
  ])('rejects %j: %s, %s', async (input, code, message) => {
    const fixture = await town();
    await expectRefused(fixture, () => remove(fixture, 0, input), { code, message });
  });

  it('rejects an emoji that the user has not reacted with', async () => {
    const fixture = await town();
    await add(fixture, 0, {}, 'other');
    const none = { code: 'UNKNOWN_REACTION', message: "Reaction doesn't exist." };
    for (const input of [{ name: 'smile' }, { code: '1f642' }])
      await expectRefused(fixture, () => remove(fixture, 0, input), none);
    await add(fixture, 0);
    await remove(fixture, 0, { name: 'smile' });
    await expectRefused(fixture, () => remove(fixture, 0, { name: 'smile' }), none);
    expect(await shown(fixture)).toEqual(['other smile']);
  });

  it('rejects messages that the user cannot read or that are archived', async () => {
    const fixture = await town();
    await store(fixture, 'member', CUSTOM, 4);
    await store(fixture, 'member', CUSTOM, 1);
    for (const index of [1, 4])
      await expectRefused(fixture, () => remove(fixture, index, { code: '7', type: 'custom' }), HIDDEN);
  });

  it('neither makes the message the user’s own nor follows the topic', async () => {
    const fixture = await town();
    await change(fixture, 'member', { automaticallyFollowTopicsPolicy: 'participating' });
    await store(fixture, 'member', CUSTOM);
    await remove(fixture, 0, { code: '7', type: 'custom' });
    expect(fixture.storage.announced.map(({ event }) => event.type)).toEqual(['reaction.changed']);
  });
});
