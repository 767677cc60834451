import { DomainError } from '../kernel/errors.js';
import type { Caller, ChannelId, RealmId, UserId } from '../kernel/ids.js';
import { type JobPartOutcome, jobPartKind, RequestParts } from '../kernel/job-parts.js';
import type { Job, JobWork, StoredJob } from '../kernel/jobs.js';
import type { Clock, RealmUrls } from '../kernel/ports.js';
import type { Repositories, Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import { slicesOf } from '../kernel/work.js';
import type { User } from '../users/user.js';
import { byFoldedName, type Channel } from './channel.js';
import { findPrincipals, type Principals } from './channel-access.js';
import { publishReturn } from './channel-events.js';
import { subscribedNotice } from './channel-notices.js';
import {
  ChannelCreator,
  type ChannelOptions,
  type ChannelPermissionInput,
  type NewChannel,
  type ServerChannelConfig,
} from './create-channels.use-cases.js';
import { subscribeToChannels, unsubscribeFromChannels } from './subscribing.js';

/** Maximum number of subscriptions (users times channels) that one unit of work changes. */
export const MAX_SUBSCRIPTIONS_AT_ONCE = 500;
/** Maximum number of channels that one unit of work creates. */
export const MAX_CHANNELS_AT_ONCE = 50;
/** Maximum number of new subscribers that one unit of work notifies. */
export const NOTIFIED_AT_ONCE = 10;

/** True if a request is small enough for a single unit of work. */
export const isOneUnit = (userCount: number, channelCount: number): boolean =>
  channelCount <= MAX_CHANNELS_AT_ONCE && userCount * channelCount <= MAX_SUBSCRIPTIONS_AT_ONCE;

/** Loads the principals of a large request before its units of work. */
export async function loadPrincipals(
  uow: UnitOfWork,
  caller: Caller,
  principals: Principals | null,
  realmUrls: RealmUrls,
): Promise<readonly User[] | DomainError> {
  return uow.read(caller.realmId, async (reads) => {
    const actor = await reads.actors.get(caller);
    const realm = await reads.realms.get(caller.realmId);
    try {
      return await findPrincipals(reads, actor, realm, principals ?? [actor.id], realmUrls);
    } catch (error) {
      if (error instanceof DomainError) return error;
      throw error;
    }
  });
}

type Colors = readonly (readonly [ChannelId, string])[];

/** Part of a request that changes many subscriptions. */
export type SubscriptionPart =
  | {
      readonly op: 'create';
      readonly creator: Caller;
      readonly channels: readonly (NewChannel & { readonly color: string | null })[];
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

const NOTHING_CHANGED: SubscriptionPartResult = { channels: [], changed: new Map(), unchanged: new Map() };

export const SUBSCRIPTION_PART_JOB = jobPartKind<SubscriptionPart>('channels.change_subscriptions');

/** Splits channels and users into parts. Whole user lists come first, because they share their events. */
export function* inParts<C, U>(
  channels: readonly C[],
  userIds: readonly U[],
): Generator<{ readonly channels: readonly C[]; readonly userIds: readonly U[] }> {
  const channelCount = Math.floor(MAX_SUBSCRIPTIONS_AT_ONCE / Math.max(1, userIds.length));
  for (const some of slicesOf(channels, Math.min(MAX_CHANNELS_AT_ONCE, Math.max(1, channelCount)))) {
    for (const people of slicesOf(userIds, MAX_SUBSCRIPTIONS_AT_ONCE)) yield { channels: some, userIds: people };
  }
}

/** Performs the parts of requests that change many subscriptions or create many channels (contract decision 10). */
export class ChangeSubscriptionParts extends RequestParts<SubscriptionPart, SubscriptionPartResult> {
  static readonly inject = ['unitOfWork', ChannelCreator, 'clock', 'serverChannelConfig'] as const;

  readonly kind = SUBSCRIPTION_PART_JOB;

  constructor(
    uow: UnitOfWork,
    private readonly channelCreator: ChannelCreator,
    clock: Clock,
    private readonly options: Pick<ServerChannelConfig, 'webPublicEnabled'>,
  ) {
    super(uow, clock);
  }

  /** Removes subscriptions of a request in as many units of work as needed. */
  async remove(
    realmId: RealmId,
    isSmall: boolean,
    select: (reads: Repositories | Transaction) => Promise<SelectedSubscriptions>,
  ): Promise<SubscriptionPartResult> {
    const plan = async (reads: Repositories | Transaction) => {
      const { channels, userIds } = await select(reads);
      return [...inParts(channels, userIds)].map((part): SubscriptionPart => {
        return { op: 'remove', channelIds: part.channels.map(({ id }) => id), userIds: part.userIds };
      });
    };
    return this.joined(await this.perform(realmId, isSmall, plan));
  }

  /** Performs scheduled parts immediately and returns their combined results. */
  async runTogether(jobs: readonly StoredJob[]): Promise<SubscriptionPartResult> {
    return this.joined(await this.run(jobs));
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
    if (payload.op === 'create') return this.prepareCreation(job, payload);
    if (payload.op === 'notify') return async (tx) => this.notify(tx, realmId, payload);
    if (payload.op === 'return') {
      return async (tx) => {
        const [channel] = await tx.channels.listViews(realmId, [payload.channelId]);
        if (channel && !channel.isArchived) await publishReturn(tx, channel, payload.userIds);
        return { result: NOTHING_CHANGED };
      };
    }
    return async (tx) => {
      const found = new Map((await tx.channels.list(realmId, payload.channelIds)).map((it) => [it.id, it]));
      const channels = payload.channelIds.flatMap((id) => found.get(id) ?? []);
      const { userIds } = payload;
      if (payload.op === 'remove') {
        const { removed, notSubscribed } = await unsubscribeFromChannels(tx, channels, userIds);
        return { result: { channels, changed: removed, unchanged: notSubscribed } };
      }
      const requestedColors = new Map(payload.colors);
      const { added, alreadySubscribed } = await subscribeToChannels(tx, { channels, userIds, requestedColors });
      return { result: { channels, changed: added, unchanged: alreadySubscribed } };
    };
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
    const by = (await tx.users.find(realmId, creator.userId))!;
    const ids = [...new Set(people.flatMap(({ channelIds }) => channelIds))];
    const channels = new Map((await tx.channels.list(realmId, ids)).map((channel) => [channel.id, channel]));
    const userIds = people.map(({ userId }) => userId);
    const subscriptions = await tx.channels.listSubscriptionsOf(realmId, userIds, ids);
    const users = new Map((await tx.users.list(realmId, userIds)).map((user) => [user.id, user]));
    for (const { userId, channelIds } of people) {
      const person = users.get(userId);
      const joined = new Set(subscriptions.get(userId)!.flatMap((row) => (row.isActive ? [row.channelId] : [])));
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

  /** Creates channels with their first subscribers and schedules the other subscriptions. */
  private async prepareCreation(
    job: Job<SubscriptionPart>,
    part: Extract<SubscriptionPart, { op: 'create' }>,
  ): Promise<JobWork<JobPartOutcome<SubscriptionPartResult>>> {
    const { realmId } = job;
    const descriptions = part.channels.map(({ description }) => description);
    const parsedDescriptions = await this.channelCreator.parseDescriptions(realmId, descriptions);
    return async (tx) => {
      const actor = await tx.actors.get(part.creator);
      const realm = await tx.realms.get(realmId);
      const creator = (await tx.users.find(realmId, actor.id))!;
      const context = { realm, actor, creator, now: this.clock.now(), parsedDescriptions, ...this.options };
      const names = part.channels.map(({ name }) => name);
      // Another user may have created a channel with this name since the request was checked.
      const taken = byFoldedName(await tx.channels.listByName(realmId, names));
      const wanted = [...byFoldedName(part.channels)].filter(([key]) => !taken.has(key)).map(([, channel]) => channel);
      const channels = await this.channelCreator.add(tx, context, wanted, part.options, part.permissions);
      const colors = channels.flatMap(({ id }, index) => {
        const color = wanted[index]!.color;
        return color === null ? [] : [[id, color] as const];
      });
      const channelIds = channels.map(({ id }) => id);
      const [first, ...rest] = [...slicesOf(part.userIds, MAX_SUBSCRIPTIONS_AT_ONCE)];
      const { added, alreadySubscribed } = await subscribeToChannels(tx, {
        channels,
        userIds: first ?? [],
        requestedColors: new Map(colors),
      });
      await this.channelCreator.announce(tx, context, channels, part.announce);
      const next = await this.schedule(
        tx,
        realmId,
        rest.map((userIds) => ({ op: 'add', channelIds, userIds, colors })),
        job,
      );
      return { result: { channels, changed: added, unchanged: alreadySubscribed }, next };
    };
  }
}
