import type { Caller } from '../../kernel/caller.js';
import type { ChannelId, RealmId, UserId } from '../../kernel/ids.js';
import { slicesOf } from '../../kernel/slices.js';
import { sortByCodePoints } from '../../kernel/text.js';
import type { Repositories, UnitOfWork } from '../../kernel/unit-of-work.js';
import type { ChannelView } from '../channel.js';
import type { Subscription } from '../subscription.js';

/** Read at once; the event loop may turn before the next ones. */
const CHANNELS_AT_A_TIME = 200;

export interface OwnSubscription {
  readonly channel: ChannelView;
  readonly subscription: Subscription;
  /** Null: not asked for. */
  readonly subscriberIds: readonly UserId[] | null;
}

/** What the caller follows, by name; archived channels are left out (channels §4.8). */
export class ListSubscriptions {
  static readonly inject = ['unitOfWork'] as const;
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

/** By name in code-point order. */
async function listViewsInSlices(
  repositories: Repositories,
  realmId: RealmId,
  ids: readonly ChannelId[],
): Promise<readonly ChannelView[]> {
  const views: ChannelView[] = [];
  for (const slice of slicesOf(ids, CHANNELS_AT_A_TIME)) {
    await repositories.yield();
    for (const view of await repositories.channels.listViews(realmId, slice)) views.push(view);
  }
  return sortByCodePoints(views, ({ name }) => name);
}
