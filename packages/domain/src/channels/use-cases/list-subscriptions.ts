import type { Caller } from '../../shared/caller.js';
import type { UserId } from '../../shared/ids.js';
import type { UnitOfWork } from '../../shared/unit-of-work.js';
import type { ChannelView } from '../channel.js';
import { listViewsInSlices } from '../list-views-in-slices.js';
import type { Subscription } from '../subscription.js';

export interface OwnSubscription {
  readonly channel: ChannelView;
  readonly subscription: Subscription;
  /** Null: not asked for. */
  readonly subscriberIds: readonly UserId[] | null;
}

/** What the caller follows, by name; archived channels are left out (channels §4.8). */
export class ListSubscriptions {
  constructor(private readonly uow: UnitOfWork) {}

  execute(
    caller: Caller,
    { includeSubscribers }: { readonly includeSubscribers: boolean },
  ): Promise<readonly OwnSubscription[]> {
    return this.uow.read(async (repositories) => {
      const actor = await repositories.actors.get(caller);
      const rows = (await repositories.channels.listSubscriptions(actor.realmId, actor.id)).filter(
        (row) => row.isActive,
      );
      const byChannel = new Map(rows.map((row) => [row.channelId, row]));
      const ids = [...byChannel.keys()];
      const channels = await listViewsInSlices(repositories, actor.realmId, ids);
      const subscribers = includeSubscribers ? await repositories.channels.listSubscribers(actor.realmId, ids) : null;
      return channels
        .filter((channel) => !channel.isArchived)
        .map((channel) => ({
          channel,
          subscription: byChannel.get(channel.id)!,
          subscriberIds: subscribers && (subscribers.get(channel.id) ?? []),
        }));
    });
  }
}
