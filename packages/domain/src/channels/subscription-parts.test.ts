import {
  aChannel,
  aMessage,
  aRealmWith,
  aUser,
  aUserOfEachRole,
  createFixture,
  eventsWithReceivers,
  expectInSync,
  expectRefused,
  FakeChannelQuota,
  FakeRenderer,
  fakeRealmUrls,
  intercepting,
  type MemoryFixture,
} from '@parley/testkit';
import { MAX_PERMISSION_HOLDERS } from '../access/group-settings.js';
import { DomainError } from '../kernel/errors.js';
import type { RealmId, UserId } from '../kernel/ids.js';
import { JobRunner } from '../kernel/jobs.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import { MarkdownTextRenderer } from '../writing/render-message.js';
import { SystemMessages } from '../writing/system-messages.js';
import { ArchiveChannel } from './archive-channel.use-cases.js';
import { ChangeChannel } from './change-channel.use-cases.js';
import { CreateChannel } from './create-channel.use-cases.js';
import { ChannelCreator, type ChannelOptions, DEFAULT_CHANNEL_OPTIONS } from './create-channels.use-cases.js';
import { ChangeSubscriptions, ChannelSubscriber, SubscribeUsers } from './subscribe.use-cases.js';
import { unsubscribeFromChannels } from './subscribing.js';
import { ChangeSubscriptionParts, MAX_CHANNELS_AT_ONCE, MAX_SUBSCRIPTIONS_AT_ONCE } from './subscription-parts.js';
import { ChannelUnsubscriber, UnsubscribeUsers } from './unsubscribe.use-cases.js';

const PEOPLE = Array.from({ length: 60 }, (_, n) => `person ${n}`);
const NAMES = Array.from({ length: 20 }, (_, n) => `channel ${n}`);

/** Counts the committed units of work, and makes those after the given number fail. */
function unitsOf(fixture: MemoryFixture) {
  /** `holders`: users and groups in permissions of other channels. */
  const counter = { count: 0, failsAfter: Number.POSITIVE_INFINITY, holders: 0 };
  const fuller = (tx: Transaction): Transaction =>
    Object.assign(Object.create(tx) as Transaction, {
      groups: Object.assign(Object.create(tx.groups), {
        countPermissionHolders: async (realmId: RealmId) =>
          counter.holders + (await tx.groups.countPermissionHolders(realmId)),
      }),
    });
  const uow = intercepting(fixture.uow, {
    write: async (work, run) => {
      if (counter.count >= counter.failsAfter) throw new Error('Stopped');
      counter.count++;
      return run((tx) => work(fuller(tx)));
    },
  });
  return { counter, uow };
}

async function large(existing = true) {
  const fixture = await createFixture(
    aUserOfEachRole(),
    aRealmWith({ settings: { sendChannelEventsMessages: false } }),
    ...PEOPLE.map((name) => aUser({ name })),
    ...(existing ? NAMES.map((name) => aChannel({ name })) : []),
  );
  const { counter, uow } = unitsOf(fixture);
  const renderer = new FakeRenderer();
  const messages = new SystemMessages(renderer, fakeRealmUrls, fixture.clock);
  const creator = new ChannelCreator(
    new MarkdownTextRenderer(uow, renderer, fakeRealmUrls),
    messages,
    new FakeChannelQuota(),
    { webPublicEnabled: true },
  );
  const parts = new ChangeSubscriptionParts(fixture.uow, creator, fixture.clock);
  const requests = new ChangeSubscriptionParts(uow, creator, fixture.clock);
  const subscriber = new ChannelSubscriber(creator, requests, fakeRealmUrls);
  const unsubscriber = new ChannelUnsubscriber(fakeRealmUrls, requests);
  const people = PEOPLE.map((name) => fixture.user(name).id);
  const toAdd = (names: readonly string[]) =>
    names.map((name) => ({ name, color: null, description: `About ${name}` }));
  const caller = fixture.caller('owner');
  return {
    ...{ fixture, counter, people, parts, renderer },
    subscribe: (
      principals: readonly UserId[] | null,
      names = NAMES,
      notifyNewSubscribers = false,
      permissions: ChannelOptions['permissions'] = {},
    ) =>
      new SubscribeUsers(subscriber).execute(caller, {
        channels: toAdd(names),
        principals,
        options: { ...DEFAULT_CHANNEL_OPTIONS, permissions },
        announce: false,
        failsOnInaccessible: true,
        notifyNewSubscribers,
      }),
    unsubscribe: (principals: readonly UserId[], names = NAMES) =>
      new UnsubscribeUsers(unsubscriber).execute(caller, { channelNames: names, principals }),
    change: (add: readonly string[], remove: readonly string[]) =>
      new ChangeSubscriptions(uow, subscriber, unsubscriber).execute(caller, { add: toAdd(add), remove }),
    create: (name: string, subscriberIds: readonly UserId[]) =>
      new CreateChannel(creator, requests, fakeRealmUrls).execute(caller, {
        ...DEFAULT_CHANNEL_OPTIONS,
        ...{ name, description: '', subscriberIds, announce: false },
      }),
    /** Runs the jobs left by a crash. */
    recover: async () => {
      counter.failsAfter = Number.POSITIVE_INFINITY;
      fixture.clock.advance(60);
      const problems: unknown[] = [];
      const report = (...problem: unknown[]) => void problems.push(problem);
      await new JobRunner(parts, { uow: fixture.uow, clock: fixture.clock, report }).run();
      expect(problems).toEqual([]);
    },
    subscribedCount: () =>
      fixture.uow.read(fixture.realm.id, async ({ channels }) => {
        const found = await channels.listByName(fixture.realm.id, NAMES);
        const lists = await channels.listSubscribers(
          fixture.realm.id,
          found.map(({ id }) => id),
        );
        return [...lists.values()].reduce((sum, ids) => sum + ids.length, 0);
      }),
    typesOfEvents: async () => (await eventsWithReceivers(fixture)).map(([type]) => type),
  };
}

describe('request for many subscriptions (contract decision 10)', () => {
  it('splits a large change into bounded units with the response and state of a single unit', async () => {
    const { fixture, counter, people, subscribe, unsubscribe, subscribedCount } = await large();
    await expectInSync(fixture, async () => {
      const { subscribed, alreadySubscribed, inaccessible } = await subscribe(people);
      expect([...subscribed.values()]).toEqual(PEOPLE.map(() => NAMES));
      expect([alreadySubscribed.size, inaccessible]).toEqual([0, []]);
    });
    const parts = Math.ceil((PEOPLE.length * NAMES.length) / MAX_SUBSCRIPTIONS_AT_ONCE);
    expect(counter.count).toBe(1 + parts);
    expect(await subscribedCount()).toBe(1200);
    expect((await subscribe(people)).subscribed.size).toBe(0);
    await expectInSync(fixture, async () => {
      const { removed, notSubscribed } = await unsubscribe(people);
      expect(removed).toEqual(NAMES.flatMap((name) => PEOPLE.map(() => name)));
      expect(notSubscribed).toEqual([]);
    });
    expect(await subscribedCount()).toBe(0);
  });

  it('runs as one unit at the limit of a unit', async () => {
    const { counter, people, subscribe } = await large();
    await subscribe(people.slice(0, 25));
    expect(counter.count).toBe(1);
  });

  it('creates many channels in parts, each published with its first subscribers', async () => {
    const { fixture, counter, subscribe } = await large(false);
    const names = Array.from({ length: 120 }, (_, n) => `new ${n}`);
    await expectInSync(fixture, async () => {
      const { subscribed } = await subscribe(null, names);
      expect([...subscribed.values()]).toEqual([names]);
    });
    expect(counter.count).toBe(1 + Math.ceil(120 / MAX_CHANNELS_AT_ONCE));
  });

  it('creates no channel if the permissions of all name more people than the organization has room for', async () => {
    const { fixture, counter, people, subscribe } = await large(false);
    const permissions = { canSubscribe: { directMembers: people.slice(0, 2), directSubgroups: [] } };
    const names = Array.from({ length: 120 }, (_, n) => `new ${n}`);
    counter.holders = MAX_PERMISSION_HOLDERS - 2 * names.length + 1;
    await expectRefused(fixture, () => subscribe(null, names, false, permissions), {
      code: 'TOO_MANY_PERMISSION_HOLDERS',
    });
    counter.holders--;
    await subscribe(null, names, false, permissions);
  });

  it('creates no channel if the description of one cannot be rendered', async () => {
    const { fixture, renderer, subscribe } = await large(false);
    const parse = renderer.parse.bind(renderer);
    jest.spyOn(renderer, 'parse').mockImplementation(async (text, options) => {
      if (text === 'About new 100') throw new DomainError('UNRENDERABLE_CONTENT', 'no');
      return parse(text, options);
    });
    const names = Array.from({ length: 120 }, (_, n) => `new ${n}`);
    await expectRefused(fixture, () => subscribe(null, names), { code: 'UNRENDERABLE_CONTENT' });
  });

  it('changes nothing if one user or one name is invalid', async () => {
    const { fixture, people, subscribe, unsubscribe } = await large(false);
    const stranger = 1_000_000 as UserId;
    await expectRefused(fixture, () => subscribe([...people, stranger]), { message: 'No such user' });
    await expectRefused(fixture, () => subscribe(people, [...NAMES, 'x'.repeat(61)]), { code: 'INVALID_CHANNEL_NAME' });
    await expectRefused(fixture, () => unsubscribe(people), { code: 'UNKNOWN_CHANNEL' });
  });

  it.each([
    ['existing channels', true],
    ['new channels', false],
  ])('is completed by a job after a crash (%s)', async (_, existing) => {
    const { counter, people, subscribe, unsubscribe, recover, subscribedCount } = await large(existing);
    counter.failsAfter = 2;
    await expect(subscribe(people)).rejects.toThrow('Stopped');
    const reached = await subscribedCount();
    expect(reached).toBeGreaterThan(0);
    expect(reached).toBeLessThan(1200);
    await recover();
    expect(await subscribedCount()).toBe(1200);
    counter.failsAfter = counter.count + 2;
    await expect(unsubscribe(people)).rejects.toThrow('Stopped');
    await recover();
    expect(await subscribedCount()).toBe(0);
  });

  it('is completed by a job after a crash if its author is deactivated in between', async () => {
    const { fixture, counter, people, subscribe, recover, subscribedCount } = await large(false);
    counter.failsAfter = 2;
    await expect(subscribe(people)).rejects.toThrow('Stopped');
    await fixture.uow.write(fixture.realm.id, (tx) => tx.users.update({ ...fixture.user('owner'), isActive: false }));
    await recover();
    expect(await subscribedCount()).toBe(1200);
  });

  it.each([
    ['existing channels', true],
    ['new channels', false],
  ])('skips users who were deactivated since the request was checked (%s)', async (_, existing) => {
    const { fixture, counter, people, subscribe, recover, subscribedCount } = await large(existing);
    counter.failsAfter = 1;
    await expect(subscribe(people)).rejects.toThrow('Stopped');
    await fixture.uow.write(fixture.realm.id, (tx) =>
      tx.users.update({ ...fixture.user('person 5'), isActive: false }),
    );
    await recover();
    expect(await subscribedCount()).toBe(1200 - NAMES.length);
    const rows = await fixture.uow.read(fixture.realm.id, async ({ channels }) => {
      const ids = (await channels.listByName(fixture.realm.id, NAMES)).map(({ id }) => id);
      return channels.listSubscriptionsOf(fixture.realm.id, [fixture.user('person 5').id], ids);
    });
    expect([...rows.values()].flat()).toEqual([]);
  });

  it('marks messages as read in further units of work for users who left, unless they subscribed again', async () => {
    const { fixture, people, parts, subscribe } = await large();
    const [first, second, third] = people as [UserId, UserId, UserId];
    const { id: realmId } = fixture.realm;
    const channel = fixture.channel(NAMES[0]!);
    await subscribe([first, second, third], [channel.name]);
    await fixture.add(aMessage({ from: 'owner', to: channel.name }));
    const { unread } = await fixture.uow.write(realmId, (tx) =>
      unsubscribeFromChannels(tx, [channel], [first, second, third], 1),
    );
    expect(unread).toEqual([{ channelId: channel.id, userIds: [first, second, third] }]);
    await subscribe([third], [channel.name]);
    const readings = unread.map((leavers) => ({ op: 'read', ...leavers }) as const);
    await parts.run(await fixture.uow.write(realmId, (tx) => parts.schedule(tx, realmId, readings)));
    const countOf = (userId: UserId) =>
      fixture.uow.read(realmId, async ({ personal }) => (await personal.listUnread({ realmId, userId }, 9)).length);
    expect(await Promise.all([first, second, third].map(countOf))).toEqual([0, 0, 1]);
  });

  it('sends one message to each new subscriber, by a job after a crash', async () => {
    const { fixture, counter, people, subscribe, recover, typesOfEvents } = await large();
    await subscribe(people.slice(0, 1), NAMES.slice(0, 5));
    const messages = async () => (await typesOfEvents()).filter((type) => type === 'message.sent').length;
    expect(await messages()).toBe(0);
    counter.failsAfter = counter.count + 3;
    await expect(subscribe(people, NAMES, true)).rejects.toThrow('Stopped');
    expect(await messages()).toBe(0);
    await recover();
    expect(await messages()).toBe(PEOPLE.length);
    const contentFor = (name: string) =>
      fixture.storage.announced.flatMap(({ event }) => {
        if (event.type !== 'message.sent') return [];
        const { message, conversation } = event.view;
        const people = conversation.kind === 'direct' ? conversation.participants.map(({ fullName }) => fullName) : [];
        return people.includes(name) ? [message.content] : [];
      });
    expect(contentFor('person 0')[0]!.match(/#\*\*/g)).toHaveLength(15);
    expect(contentFor('person 1')[0]!.match(/#\*\*/g)).toHaveLength(20);
    expect(contentFor('person 1')).toHaveLength(1);
  });

  it('sends no messages to more than a hundred new subscribers', async () => {
    const { fixture, people, subscribe, typesOfEvents } = await large();
    const others = Array.from({ length: 50 }, (_, n) => `other ${n}`);
    await fixture.add(...others.map((name) => aUser({ name })));
    const everybody = [...people, ...others.map((name) => fixture.user(name).id)];
    const { areNewSubscribersNotified } = await subscribe(everybody, NAMES, true);
    expect(areNewSubscribersNotified).toBe(false);
    expect(await typesOfEvents()).not.toContain('message.sent');
  });

  it('performs each part once even if the job runner takes over while the request runs', async () => {
    const { fixture, people, subscribe, recover, typesOfEvents } = await large();
    const request = subscribe(people);
    await recover();
    await request;
    const added = (await typesOfEvents()).filter((type) => type === 'subscription.added');
    expect(added).toHaveLength(3);
    expect(fixture.clock.now()).toBeGreaterThan(0);
  });

  it("splits a change of the caller's own subscriptions and the first subscribers of a channel", async () => {
    const { fixture, counter, people, change, create } = await large();
    const many = Array.from({ length: 60 }, (_, n) => `other ${n}`);
    await expectInSync(fixture, () => change(many, []));
    await expectInSync(fixture, () => change([], many));
    expect(counter.count).toBeGreaterThan(4);
    await expectInSync(fixture, () => create('general', people));
  });

  it('shows an unarchived channel to its subscribers in several units of work, continued by jobs', async () => {
    const people = Array.from({ length: MAX_SUBSCRIPTIONS_AT_ONCE + 1 }, (_, n) => `person ${n}`);
    const fixture = await createFixture(
      ...people.map((name) => aUser({ name, role: name === 'person 0' ? 'owner' : 'member' })),
      aChannel({ name: 'old', isArchived: true, subscribers: people }),
    );
    const caller = fixture.caller('person 0');
    const renderer = new FakeRenderer();
    const messages = new SystemMessages(renderer, fakeRealmUrls, fixture.clock);
    const texts = new MarkdownTextRenderer(fixture.uow, renderer, fakeRealmUrls);
    const config = { webPublicEnabled: true };
    const changeChannel = new ChangeChannel(fixture.uow, texts, messages, fixture.clock, config);
    const channelId = fixture.channel('old').id;
    const unarchive = () =>
      changeChannel.execute(caller, { channelId, privacy: {}, unarchives: true, permissions: {} });
    const creator = new ChannelCreator(texts, messages, new FakeChannelQuota(), config);
    const parts = new ChangeSubscriptionParts(fixture.uow, creator, fixture.clock);
    const report = (problem: string) => expect(problem).toBeNull();
    const runParts = () => new JobRunner(parts, { uow: fixture.uow, clock: fixture.clock, report }).run();
    const shown = async () =>
      (await eventsWithReceivers(fixture)).flatMap(([type, names]) =>
        type === 'subscription.added' ? [names.length] : [],
      );
    await unarchive();
    expect(await shown()).toEqual([MAX_SUBSCRIPTIONS_AT_ONCE]);
    await runParts();
    expect(await shown()).toEqual([MAX_SUBSCRIPTIONS_AT_ONCE, 1]);
    await new ArchiveChannel(fixture.uow, messages).execute(caller, { channelId });
    await unarchive();
    await new ArchiveChannel(fixture.uow, messages).execute(caller, { channelId });
    await runParts();
    // A channel archived again before the jobs run is not shown.
    expect(await shown()).toEqual([MAX_SUBSCRIPTIONS_AT_ONCE, 1, MAX_SUBSCRIPTIONS_AT_ONCE]);
  });
});
