import { isAdministrator } from '../access/actor.js';
import type { Channel } from '../channels/channel.js';
import type { ChannelId, RealmId, UserId } from '../kernel/ids.js';
import type { Snapshot } from '../kernel/snapshot.js';
import type { Repositories, Transaction } from '../kernel/unit-of-work.js';
import type { User } from '../users/user.js';
import { loadViewer } from '../users/user-loaders.js';
import type { OutgoingWebhook } from './bot-options.js';

/** What the owner of a bot and administrators know of it. */
export interface BotView {
  readonly botId: UserId;
  /** Names of channels; null: none, or one that is there no more. */
  readonly sendingChannel: string | null;
  readonly eventsChannel: string | null;
  readonly allPublicChannels: boolean;
  readonly webhook: OutgoingWebhook | null;
}

/** A bot, with what is known of it. */
export interface ViewedBot {
  readonly user: User;
  readonly view: BotView;
}

type Reads = Pick<Repositories | Transaction, 'bots' | 'channels'>;

/** Of these bots, in their order. A constant number of statements. */
export async function viewBots(
  { bots, channels }: Reads,
  realmId: RealmId,
  users: readonly User[],
): Promise<readonly ViewedBot[]> {
  if (users.length === 0) return [];
  const options = await bots.listOptions(
    realmId,
    users.map(({ id }) => id),
  );
  const named = users.flatMap(({ id, bot }) => [bot!.defaultSendingChannelId, options.get(id)!.eventsChannelId]);
  const ids = [...new Set(named.filter((id) => id !== null))] as ChannelId[];
  const names = new Map<number | null, Channel['name']>(
    (await channels.list(realmId, ids)).map(({ id, name }) => [id, name]),
  );
  return users.map((user) => {
    const { eventsChannelId, allPublicChannels, webhook } = options.get(user.id)!;
    return {
      user,
      view: {
        botId: user.id,
        sendingChannel: names.get(user.bot!.defaultSendingChannelId) ?? null,
        eventsChannel: names.get(eventsChannelId) ?? null,
        allPublicChannels,
        webhook,
      },
    };
  });
}

export const viewBot = async (reads: Reads, user: User): Promise<BotView> =>
  (await viewBots(reads, user.realmId, [user]))[0]!.view;

/** Those that the viewer may administer: their own, or all of them; deactivated ones too; ascending. */
export async function loadBots(snapshot: Snapshot): Promise<readonly BotView[]> {
  const { repositories } = snapshot;
  const viewer = await snapshot.load(loadViewer);
  const ids = isAdministrator(viewer)
    ? await repositories.users.listBotIds(viewer.realmId)
    : await repositories.bots.listOwnedIds(viewer.realmId, viewer.id);
  const users = ids.length === 0 ? [] : await repositories.users.list(viewer.realmId, ids);
  return (await viewBots(repositories, viewer.realmId, users)).map(({ view }) => view);
}
