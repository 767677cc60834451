import { isGuest } from '../access/actor.js';
import { loadHeldChannelIds } from '../channels/channels.use-cases.js';
import type { Caller, ChannelId, UserId } from '../kernel/ids.js';
import {
  type Loaded,
  type LoaderSubstitutes,
  loadAll,
  type Snapshot,
  type SnapshotLoaders,
  takeSnapshot,
} from '../kernel/register-queue.js';
import type { UnitOfWork } from '../kernel/unit-of-work.js';
import { loadHeldUserIds, loadViewer } from '../users/users.use-cases.js';
import { loadNewestUnread } from './flags.js';

/** Number of channels up to which clients get all channels and users. */
const MAX_CHANNELS_OF_WHOLE_STATE = 500;
/** Maximum number of channels in a partial state. */
const MAX_HELD_CHANNELS = 150;
/** Maximum number of channels for each reason: pinned, recently created, and so on. */
const MAX_NOTABLE = 50;
/** Number of unread messages that select channels. */
const MAX_UNREAD = 50;
/** Maximum number of channels, and of users, with a text in their name. */
const MAX_FOUND = 50;

/** True if the viewer's organization is so large that clients get a part of its state. Guests see few channels and users. */
export const loadIsPartial = async (snapshot: Snapshot): Promise<boolean> =>
  !isGuest(await snapshot.load(loadViewer)) &&
  (await snapshot.repositories.channels.hasMoreThan(snapshot.caller.realmId, MAX_CHANNELS_OF_WHOLE_STATE));

async function chooseChannelIds(snapshot: Snapshot): Promise<readonly ChannelId[] | null> {
  if (!(await snapshot.load(loadIsPartial))) return null;
  const { realmId, userId } = snapshot.caller;
  const { channels } = snapshot.repositories;
  const { conversations } = await snapshot.load(loadNewestUnread);
  const unread = conversations
    .flatMap(({ channelId, ids }) => ids.map((id) => ({ channelId, id })))
    .sort((one, other) => other.id - one.id)
    .slice(0, MAX_UNREAD);
  const ids = new Set([
    ...(await channels.listDefaults(realmId)).map(({ id }) => id).slice(0, MAX_NOTABLE),
    ...unread.flatMap(({ channelId }) => (channelId === null ? [] : [channelId])),
    ...(await channels.listNotableIds(realmId, userId, MAX_NOTABLE)),
  ]);
  return [...ids].slice(0, MAX_HELD_CHANNELS);
}

const chooseUserIds = async (snapshot: Snapshot): Promise<'members' | null> =>
  (await snapshot.load(loadIsPartial)) ? 'members' : null;

/** Loaders for clients that fetch other channels and users when they need them (extensions §18). */
export const PARTIAL_STATE: LoaderSubstitutes = [
  [loadHeldChannelIds, chooseChannelIds],
  [loadHeldUserIds, chooseUserIds],
];

export interface LoadMoreStateInput<L extends SnapshotLoaders> {
  readonly channelIds: readonly ChannelId[];
  readonly userIds: readonly UserId[];
  /** Text in names of more channels and users; null for none. */
  readonly text: string | null;
  readonly loaders: L;
}

/** Loads the state of some channels and users, in the form of the initial state (extensions §18). */
export class LoadMoreState {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** Unknown and inaccessible ids are ignored. */
  execute<L extends SnapshotLoaders>(caller: Caller, input: LoadMoreStateInput<L>): Promise<Loaded<L>> {
    return this.uow.read(caller.realmId, async (repositories) => {
      await repositories.actors.get(caller);
      const { realmId } = caller;
      const { channels, users } = repositories;
      const { text } = input;
      const channelIds = text === null ? [] : await channels.listIdsNamedLike(realmId, text, MAX_FOUND);
      const userIds = text === null ? [] : await users.listIdsNamedLike(realmId, text, MAX_FOUND);
      const snapshot = takeSnapshot(repositories, caller, [
        [loadHeldChannelIds, async () => [...new Set([...input.channelIds, ...channelIds])]],
        [loadHeldUserIds, async () => [...new Set([...input.userIds, ...userIds])]],
      ]);
      return loadAll(snapshot, input.loaders);
    });
  }
}
