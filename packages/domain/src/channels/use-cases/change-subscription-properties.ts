import { users } from '../../kernel/audience.js';
import type { Caller } from '../../kernel/caller.js';
import { DomainError } from '../../kernel/errors.js';
import type { ChannelId } from '../../kernel/ids.js';
import { enforce } from '../../kernel/permission.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import { canReadActive, unknownChannel } from '../channel-access.js';
import { changeSubscription, type SubscriptionProperty, type SubscriptionValue } from '../subscription-properties.js';

export interface ChangeSubscriptionPropertiesInput {
  /** Carried out in this order. */
  readonly changes: readonly {
    readonly channelId: ChannelId;
    readonly property: SubscriptionProperty | { readonly unknown: string };
    /** As it was sent: which ones fit depends on the property. */
    readonly value: SubscriptionValue | number | null;
  }[];
}

/** How the caller shows channels and is notified of them (channels §4.9). */
export class ChangeSubscriptionProperties {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /**
   * All or nothing. What stays the same is sent to clients, too.
   * @throws DomainError UNKNOWN_SUBSCRIPTION_PROPERTY, UNKNOWN_CHANNEL, NOT_SUBSCRIBED, INVALID_COLOR,
   * INVALID_SUBSCRIPTION_VALUE
   */
  execute(caller: Caller, { changes }: ChangeSubscriptionPropertiesInput): Promise<void> {
    return this.uow.write(async (tx) => {
      const actor = await tx.actors.get(caller);
      const { realmId, id: userId } = actor;
      const ids = [...new Set(changes.map(({ channelId }) => channelId))];
      const channels = new Map((await tx.channels.list(realmId, ids)).map((channel) => [channel.id, channel]));
      const stored = (await tx.channels.listSubscriptionsOf(realmId, [userId], ids)).get(userId)!;
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
        await tx.yield();
      }
      await tx.channels.putSubscriptions([...rows.values()].filter((row) => !stored.includes(row)));
    });
  }
}
