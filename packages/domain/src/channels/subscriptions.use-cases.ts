import { DomainError } from '../kernel/errors.js';
import { users } from '../kernel/event.js';
import type { Caller, ChannelId, UserId } from '../kernel/ids.js';
import { enforce } from '../kernel/permission.js';
import type { UnitOfWork } from '../kernel/unit-of-work.js';
import { getOrThrow } from '../kernel/work.js';
import { loadUser } from '../users/find-user.js';
import type { ChannelView } from './channel.js';
import {
  canListSubscribers,
  canReadActive,
  canSeeActive,
  hasMetadataAccess,
  loadChannel,
  unknownChannel,
} from './channel-access.js';
import {
  changeSubscription,
  type Subscription,
  type SubscriptionProperty,
  type SubscriptionValue,
} from './subscriptions.js';

/** Number of channels read per batch, with yields in between. */

export interface ListedSubscription {
  readonly channel: ChannelView;
  readonly subscription: Subscription;
  /** Null if not requested. */
  readonly subscriberIds: readonly UserId[] | null;
}

/** Lists the caller's subscriptions to active channels by name (channels §4.8). */
export class ListSubscriptions {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  execute(
    caller: Caller,
    { includeSubscribers }: { readonly includeSubscribers: boolean },
  ): Promise<readonly ListedSubscription[]> {
    return this.uow.read(caller.realmId, async (repositories) => {
      const actor = await repositories.actors.get(caller);
      const rows = (await repositories.channels.listSubscriptions(actor.realmId, actor.id)).filter(
        (row) => row.isActive,
      );
      const byChannel = new Map(rows.map((row) => [row.channelId, row]));
      const ids = [...byChannel.keys()];
      const channels = await repositories.channels.listViews(actor.realmId, ids);
      const subscribers = includeSubscribers ? await repositories.channels.listSubscribers(actor.realmId, ids) : null;
      return channels
        .filter((channel) => !channel.isArchived)
        .map((channel) => ({
          channel,
          subscription: getOrThrow(byChannel, channel.id),
          subscriberIds: subscribers && (subscribers.get(channel.id) ?? []),
        }));
    });
  }
}

/** Lists active subscribers of a channel, archived or not; ascending (channels §4.10). */
export class ListSubscribers {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError UNKNOWN_CHANNEL */
  execute(caller: Caller, { channelId }: { readonly channelId: ChannelId }): Promise<readonly UserId[]> {
    return this.uow.read(caller.realmId, async (repositories) => {
      const actor = await repositories.actors.get(caller);
      await loadChannel(repositories, actor, channelId, canListSubscribers);
      return getOrThrow(await repositories.channels.listSubscribers(actor.realmId, [channelId]), channelId);
    });
  }
}

/**
 * Lists a user's subscriptions that are visible to the caller, including archived channels; ascending (channels §4.10).
 */
export class ListUserChannels {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError UNKNOWN_USER, NAMED_USER_DEACTIVATED, NOT_PERMITTED */
  execute(caller: Caller, { userId }: { readonly userId: UserId }): Promise<readonly ChannelId[]> {
    return this.uow.read(caller.realmId, async (repositories) => {
      const { channels } = repositories;
      const actor = await repositories.actors.get(caller);
      await loadUser(repositories, actor, userId, { allowBots: true });
      const subscribed = await channels.list(actor.realmId, await channels.listSubscribedIds(actor.realmId, userId));
      const own = new Set(await channels.listSubscribedIds(actor.realmId, actor.id));
      return subscribed.filter((channel) => hasMetadataAccess(actor, channel, own.has(channel.id))).map(({ id }) => id);
    });
  }
}

export interface GetSubscriptionStatusInput {
  readonly userId: UserId;
  readonly channelId: ChannelId;
}

/** Returns true if a user is subscribed to an active channel that the caller can see (channels §4.10). */
export class GetSubscriptionStatus {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError UNKNOWN_USER, NAMED_USER_DEACTIVATED, NOT_PERMITTED, UNKNOWN_CHANNEL */
  execute(caller: Caller, { userId, channelId }: GetSubscriptionStatusInput): Promise<boolean> {
    return this.uow.read(caller.realmId, async (repositories) => {
      const actor = await repositories.actors.get(caller);
      await loadUser(repositories, actor, userId, { allowBots: true });
      await loadChannel(repositories, actor, channelId, canSeeActive);
      return repositories.channels.isSubscribed(actor.realmId, channelId, userId);
    });
  }
}

export interface ChangeSubscriptionPropertiesInput {
  /** Changes in order of application. */
  readonly changes: readonly {
    readonly channelId: ChannelId;
    readonly property: SubscriptionProperty | { readonly unknown: string };
    /** Value as received; valid types depend on the property. */
    readonly value: SubscriptionValue | number | null;
  }[];
}

/** Changes the caller's display and notification settings for channels (channels §4.9). */
export class ChangeSubscriptionProperties {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /**
   * Applies all changes or none. Also publishes unchanged values.
   * @throws DomainError UNKNOWN_SUBSCRIPTION_PROPERTY, UNKNOWN_CHANNEL, NOT_SUBSCRIBED, INVALID_COLOR,
   * INVALID_SUBSCRIPTION_VALUE
   */
  execute(caller: Caller, { changes }: ChangeSubscriptionPropertiesInput): Promise<void> {
    return this.uow.write(caller.realmId, async (tx) => {
      const actor = await tx.actors.get(caller);
      const { realmId, id: userId } = actor;
      const ids = [...new Set(changes.map(({ channelId }) => channelId))];
      const channels = new Map((await tx.channels.list(realmId, ids)).map((channel) => [channel.id, channel]));
      const stored = getOrThrow(await tx.channels.listSubscriptionsOf(realmId, [userId], ids), userId);
      const rows = new Map(stored.map((row) => [row.channelId, row]));
      for (const { channelId, property, value } of changes) {
        if (typeof property !== 'string') {
          const { unknown } = property;
          throw new DomainError('UNKNOWN_SUBSCRIPTION_PROPERTY', `Unknown subscription property: ${unknown}`);
        }
        const channel = channels.get(channelId);
        const row = rows.get(channelId);
        const isSubscribed = row?.isActive === true;
        enforce(channel ? canReadActive(actor, channel, isSubscribed) : unknownChannel);
        if (!isSubscribed) throw new DomainError('NOT_SUBSCRIBED', `Not subscribed to channel ID ${channelId}`);
        const { subscription, change } = changeSubscription(row, property, value);
        rows.set(channelId, subscription);
        await tx.events.append(realmId, {
          event: { type: 'subscription.changed', channelId, ...change },
          audience: users([userId]),
        });
      }
      await tx.channels.putSubscriptions([...rows.values()].filter((row) => !stored.includes(row)));
    });
  }
}
