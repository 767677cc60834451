import { activeUserIds } from '../access/group-settings.js';
import { orThrow } from '../kernel/errors.js';
import type { Caller, ChannelId, RealmId, UserId } from '../kernel/ids.js';
import { type JobPartOutcome, jobPartKind, RequestParts, type RequestPlan } from '../kernel/job-parts.js';
import type { Job, JobWork } from '../kernel/jobs.js';
import type { Clock } from '../kernel/ports.js';
import { foldCase } from '../kernel/text.js';
import type { Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import { getOrThrow, slicesOf } from '../kernel/work.js';
import { byFoldedName, type Channel, normalizeChannelDescription } from './channel.js';
import { publishReturn } from './channel-events.js';
import { subscribedNotice } from './channel-notices.js';
import {
  ChannelCreator,
  type ChannelOptions,
  type ChannelPermissionInput,
  type NewChannel,
  type ParsedDescriptions,
} from './create-channels.use-cases.js';
import { type Leavers, markReadForLeavers, subscribeToChannels, unsubscribeFromChannels } from './subscribing.js';

/** Maximum number of subscriptions (users times channels) that one unit of work changes. */
export const MAX_SUBSCRIPTIONS_AT_ONCE = 500;
/** Number of messages after which further ones are marked as read in another unit of work. */
export const MAX_MARKED_AT_ONCE = 10_000;

/** Maximum number of channels that one unit of work creates. */
export const MAX_CHANNELS_AT_ONCE = 50;
/** Maximum number of new subscribers that one unit of work notifies. */
export const NOTIFIED_AT_ONCE = 10;

/** True if a request is small enough for a single unit of work. */
export const isOneUnit = (userCount: number, channelCount: number): boolean =>
  channelCount <= MAX_CHANNELS_AT_ONCE && userCount * channelCount <= MAX_SUBSCRIPTIONS_AT_ONCE;

type Colors = readonly (readonly [ChannelId, string])[];

/** Channel to subscribe to, which may have to be created. */
export type WantedChannel = (NewChannel | { readonly id: ChannelId }) & { readonly color: string | null };

/** Part of a request that changes subscriptions. */
export type SubscriptionPart =
  /** Creates the missing channels and subscribes users to all of them. */
  | {
      readonly op: 'create';
      readonly creator: Caller;
      readonly channels: readonly WantedChannel[];
      readonly options: ChannelOptions;
      readonly permissions: ChannelPermissionInput;
      readonly announce: boolean;
      readonly userIds: readonly UserId[];
    }
  | {
      readonly op: 'add';
      readonly channelIds: readonly ChannelId[];
      readonly userIds: readonly UserId[];
      readonly colors: Colors;
    }
  | { readonly op: 'remove'; readonly channelIds: readonly ChannelId[]; readonly userIds: readonly UserId[] }
  /** Marks messages in a channel as read for users who left it. */
  | ({ readonly op: 'read' } & Leavers)
  /** Shows an unarchived channel to some of its subscribers. */
  | { readonly op: 'return'; readonly channelId: ChannelId; readonly userIds: readonly UserId[] }
  | {
      readonly op: 'notify';
      readonly creator: Caller;
      readonly people: readonly Newcomer[];
    };

/** User who will be subscribed to these channels. */
export interface Newcomer {
  readonly userId: UserId;
  readonly channelIds: readonly ChannelId[];
}

/** Users changed and unchanged by a part, by channel. */
export interface SubscriptionPartResult {
  readonly channels: readonly Channel[];
  readonly changed: ReadonlyMap<ChannelId, readonly UserId[]>;
  readonly unchanged: ReadonlyMap<ChannelId, readonly UserId[]>;
}

/** Channels and users of a request. */
export interface SelectedSubscriptions {
  readonly channels: readonly Channel[];
  readonly userIds: readonly UserId[];
}

/** Parsed descriptions of a request that creates no channel. */
export const NOTHING_PARSED: ParsedDescriptions = new Map();

const NOTHING_CHANGED: SubscriptionPartResult = { channels: [], changed: new Map(), unchanged: new Map() };

export const SUBSCRIPTION_PART_JOB = jobPartKind<SubscriptionPart>('channels.change_subscriptions');

/** Splits channels for the number of users. Whole user lists stay together, because they share their events. */
const channelSlices = <C>(channels: readonly C[], userCount: number): Generator<readonly C[]> =>
  slicesOf(
    channels,
    Math.min(MAX_CHANNELS_AT_ONCE, Math.max(1, Math.floor(MAX_SUBSCRIPTIONS_AT_ONCE / Math.max(1, userCount)))),
  );

/** Options of the channels that a request creates. */
export type ChannelCreation = Pick<
  Extract<SubscriptionPart, { op: 'create' }>,
  'creator' | 'options' | 'permissions' | 'announce'
>;

/** Returns the parts that subscribe all users to all channels. */
export function subscribingParts(
  channels: readonly WantedChannel[],
  userIds: readonly UserId[],
  creation: ChannelCreation,
): readonly SubscriptionPart[] {
  const people = [...userIds].sort((a, b) => a - b);
  return [...channelSlices(channels, people.length)].flatMap((some): readonly SubscriptionPart[] => {
    const existing = some.filter((channel) => 'id' in channel);
    if (existing.length < some.length) return [{ op: 'create', ...creation, channels: some, userIds: people }];
    const channelIds = existing.map(({ id }) => id);
    const colors = colorsOf(existing);
    return [...slicesOf(people, MAX_SUBSCRIPTIONS_AT_ONCE)].map((part) => {
      return { op: 'add', channelIds, userIds: part, colors };
    });
  });
}

/** Returns the parts that unsubscribe all users from all channels. */
export const unsubscribingParts = (
  channels: readonly Channel[],
  userIds: readonly UserId[],
): readonly SubscriptionPart[] =>
  [...channelSlices(channels, userIds.length)].flatMap((some) => {
    const channelIds = some.map(({ id }) => id);
    return [...slicesOf(userIds, MAX_SUBSCRIPTIONS_AT_ONCE)].map((part): SubscriptionPart => {
      return { op: 'remove', channelIds, userIds: part };
    });
  });

const colorsOf = (channels: readonly { readonly id: ChannelId; readonly color: string | null }[]): Colors =>
  channels.flatMap(({ id, color }) => (color === null ? [] : [[id, color] as const]));

/** Performs requests that change subscriptions or create channels, large ones in parts (contract decision 10). */
export class ChangeSubscriptionParts extends RequestParts<SubscriptionPart, SubscriptionPartResult> {
  static readonly inject = ['unitOfWork', ChannelCreator, 'clock'] as const;

  readonly kind = SUBSCRIPTION_PART_JOB;

  constructor(
    uow: UnitOfWork,
    private readonly channelCreator: ChannelCreator,
    clock: Clock,
  ) {
    super(uow, clock);
  }

  /**
   * Plans and performs a request in as many units of work as needed. `parsed` has the descriptions of all new channels.
   */
  async change(
    realmId: RealmId,
    isSmall: boolean,
    plan: RequestPlan<SubscriptionPart>,
    parsed = NOTHING_PARSED,
  ): Promise<SubscriptionPartResult> {
    const prepareNow = this.withDescriptions(parsed);
    const checked: typeof plan = async (unit) => requireRenderable(await plan(unit), parsed);
    return this.joined(await this.perform(realmId, isSmall, isSmall ? plan : checked, { prepareNow }));
  }

  /** Performs a small request as part of a larger unit of work. */
  async changeIn(
    tx: Transaction,
    realmId: RealmId,
    plan: RequestPlan<SubscriptionPart>,
    parsed = NOTHING_PARSED,
  ): Promise<SubscriptionPartResult> {
    return this.joined(await this.performIn(tx, realmId, plan, this.withDescriptions(parsed)));
  }

  /** Counts the channels that the request creates. */
  protected override async begin(tx: Transaction, parts: readonly SubscriptionPart[]): Promise<void> {
    const creations = parts.filter(({ op }) => op === 'create') as Extract<SubscriptionPart, { op: 'create' }>[];
    const [first] = creations;
    if (!first) return;
    const count = creations.flatMap(({ channels }) => channels).filter(isNew).length;
    await this.channelCreator.reserve(tx, await tx.actors.get(first.creator), count, first.permissions);
  }

  private joined(results: readonly SubscriptionPartResult[]): SubscriptionPartResult {
    const channels = new Map<ChannelId, Channel>();
    const changed = new Map<ChannelId, readonly UserId[]>();
    const unchanged = new Map<ChannelId, readonly UserId[]>();
    for (const result of results) {
      for (const channel of result.channels) {
        const { id } = channel;
        channels.set(id, channel);
        changed.set(id, [...(changed.get(id) ?? []), ...(result.changed.get(id) ?? [])]);
        unchanged.set(id, [...(unchanged.get(id) ?? []), ...(result.unchanged.get(id) ?? [])]);
      }
    }
    return { channels: [...channels.values()], changed, unchanged };
  }

  async prepare(job: Job<SubscriptionPart>): Promise<JobWork<JobPartOutcome<SubscriptionPartResult>>> {
    const { realmId, payload } = job;
    let parsed = NOTHING_PARSED;
    if (payload.op === 'create') {
      const descriptions = payload.channels.filter(isNew).map(({ description }) => description);
      parsed = await this.channelCreator.parseDescriptions(realmId, descriptions);
    }
    return async (tx) => this.performPart(tx, { ...job, payload: await withoutInactive(tx, realmId, payload) }, parsed);
  }

  private withDescriptions(parsed: ParsedDescriptions) {
    return async (job: Job<SubscriptionPart>) => (tx: Transaction) => this.performPart(tx, job, parsed);
  }

  private async performPart(
    tx: Transaction,
    job: Job<SubscriptionPart>,
    parsed: ParsedDescriptions,
  ): Promise<JobPartOutcome<SubscriptionPartResult>> {
    const { realmId, payload } = job;
    if (payload.op === 'create') return this.create(tx, job, payload, parsed);
    if (payload.op === 'notify') return this.notify(tx, realmId, payload);
    if (payload.op === 'return') {
      const [channel] = await tx.channels.listViews(realmId, [payload.channelId]);
      if (channel && !channel.isArchived) await publishReturn(tx, channel, payload.userIds);
      return { result: NOTHING_CHANGED };
    }
    if (payload.op === 'read') return this.markRead(tx, job, payload);
    const found = new Map((await tx.channels.list(realmId, payload.channelIds)).map((it) => [it.id, it]));
    const channels = payload.channelIds.flatMap((id) => found.get(id) ?? []);
    const { userIds } = payload;
    if (payload.op === 'remove') {
      const left = await unsubscribeFromChannels(tx, channels, userIds, MAX_MARKED_AT_ONCE);
      const result = { channels, changed: left.removed, unchanged: left.notSubscribed };
      return { result, next: await this.scheduleReading(tx, job, left.unread) };
    }
    const requestedColors = new Map(payload.colors);
    const { added, alreadySubscribed } = await subscribeToChannels(tx, { channels, userIds, requestedColors });
    return { result: { channels, changed: added, unchanged: alreadySubscribed } };
  }

  /** Skips users who have subscribed again. */
  private async markRead(
    tx: Transaction,
    job: Job<SubscriptionPart>,
    { channelId, userIds }: Leavers,
  ): Promise<JobPartOutcome<SubscriptionPartResult>> {
    const channel = await tx.channels.get(job.realmId, channelId);
    const subscribed = new Set(await tx.channels.filterSubscribed(job.realmId, channelId, userIds));
    const leavers = { channel, userIds: userIds.filter((id) => !subscribed.has(id)) };
    const unread = await markReadForLeavers(tx, [leavers], MAX_MARKED_AT_ONCE);
    return { result: NOTHING_CHANGED, next: await this.scheduleReading(tx, job, unread) };
  }

  private scheduleReading(tx: Transaction, job: Job<SubscriptionPart>, unread: readonly Leavers[]) {
    const parts = unread.map((leavers) => ({ op: 'read', ...leavers }) as const);
    return this.schedule(tx, job.realmId, parts, job);
  }

  /** Notifies the users who are still subscribed, except bots and the caller. */
  private async notify(
    tx: Transaction,
    realmId: RealmId,
    { creator, people }: Extract<SubscriptionPart, { op: 'notify' }>,
  ): Promise<JobPartOutcome<SubscriptionPartResult>> {
    const result = NOTHING_CHANGED;
    const actor = (await tx.actors.list(realmId, [creator.userId])).get(creator.userId);
    if (!actor) return { result };
    const realm = await tx.realms.get(realmId);
    const by = await tx.users.get(realmId, creator.userId);
    const ids = [...new Set(people.flatMap(({ channelIds }) => channelIds))];
    const channels = new Map((await tx.channels.list(realmId, ids)).map((channel) => [channel.id, channel]));
    const userIds = people.map(({ userId }) => userId);
    const subscriptions = await tx.channels.listSubscriptionsOf(realmId, userIds, ids);
    const users = new Map((await tx.users.list(realmId, userIds)).map((user) => [user.id, user]));
    for (const { userId, channelIds } of people) {
      const person = users.get(userId);
      const joined = new Set(getOrThrow(subscriptions, userId).flatMap((row) => (row.isActive ? [row.channelId] : [])));
      const about = channelIds.flatMap((id) => (joined.has(id) ? (channels.get(id) ?? []) : []));
      if (!person?.isActive || person.bot || userId === actor.id || about.length === 0) continue;
      const content = subscribedNotice(
        by,
        about.map(({ name }) => name),
      );
      await this.channelCreator.notificationBot.sendDirect(tx, realm, person, content, { actor, about });
    }
    return { result };
  }

  /** Subscribes the first users to new and existing channels and schedules the other subscriptions. */
  private async create(
    tx: Transaction,
    job: Job<SubscriptionPart>,
    part: Extract<SubscriptionPart, { op: 'create' }>,
    parsedDescriptions: ParsedDescriptions,
  ): Promise<JobPartOutcome<SubscriptionPartResult>> {
    const { realmId } = job;
    const missing = part.channels.filter(isNew);
    const names = missing.map(({ name }) => name);
    const existingIds = part.channels.flatMap((channel) => (isNew(channel) ? [] : [channel.id]));
    const [first = [], ...rest] = [...slicesOf(part.userIds, MAX_SUBSCRIPTIONS_AT_ONCE)];
    // Storage caches only actors that are read before the unit's first change.
    await tx.actors.list(realmId, first);
    const [actor, realm, creator, namesakes, existingChannels] = await Promise.all([
      tx.actors.getAuthor(part.creator),
      tx.realms.get(realmId),
      tx.users.find(realmId, part.creator.userId),
      tx.channels.listByName(realmId, names),
      tx.channels.list(realmId, existingIds),
    ]);
    const context = { realm, actor, creator: creator!, now: this.clock.now(), parsedDescriptions };
    // Another user may have created a channel with this name since the request was checked.
    const taken = byFoldedName(namesakes);
    const wanted = missing.filter(({ name }) => !taken.has(foldCase(name)));
    const created = await this.channelCreator.add(tx, context, wanted, part.options, part.permissions);
    const createdByName = byFoldedName(created);
    const existing = new Map(existingChannels.map((channel) => [channel.id, channel]));
    const found = part.channels.flatMap((wished) => {
      const channel = isNew(wished) ? createdByName.get(foldCase(wished.name)) : existing.get(wished.id);
      return channel ? [{ channel, id: channel.id, color: wished.color }] : [];
    });
    const channels = found.map(({ channel }) => channel);
    const colors = colorsOf(found);
    const { added, alreadySubscribed } = await subscribeToChannels(tx, {
      channels,
      userIds: first,
      requestedColors: new Map(colors),
    });
    await this.channelCreator.announce(tx, context, created, part.announce);
    const channelIds = channels.map(({ id }) => id);
    const next = await this.schedule(
      tx,
      realmId,
      rest.map((userIds) => ({ op: 'add', channelIds, userIds, colors })),
      job,
    );
    return { result: { channels, changed: added, unchanged: alreadySubscribed }, next };
  }
}

/** Checks the descriptions of all parts before the first one. @throws DomainError UNRENDERABLE_CONTENT */
function requireRenderable(
  parts: readonly SubscriptionPart[],
  parsed: ParsedDescriptions,
): readonly SubscriptionPart[] {
  for (const part of parts) {
    for (const channel of part.op === 'create' ? part.channels.filter(isNew) : []) {
      const text = getOrThrow(parsed, normalizeChannelDescription(channel.description));
      if (text.parsed) orThrow(text.parsed);
    }
  }
  return parts;
}

/** Leaves out users who were deactivated or erased since the request was checked. */
async function withoutInactive(tx: Transaction, realmId: RealmId, part: SubscriptionPart): Promise<SubscriptionPart> {
  if (part.op !== 'create' && part.op !== 'add') return part;
  const active = await activeUserIds(tx, realmId, part.userIds);
  return { ...part, userIds: part.userIds.filter((id) => active.has(id)) };
}

const isNew = (channel: WantedChannel): channel is NewChannel & { readonly color: string | null } => 'name' in channel;
