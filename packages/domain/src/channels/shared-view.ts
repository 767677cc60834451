import type { Actor } from '../access/actor.js';
import { DomainError } from '../kernel/errors.js';
import type { Caller, ChannelId, GroupId, RecipientId, UserId } from '../kernel/ids.js';
import type { Repositories, Transaction } from '../kernel/unit-of-work.js';
import { firstOf } from '../kernel/work.js';
import type { Realm } from '../realms/realm.js';
import { inaccessibleUserIds, isLimitedGuest } from '../users/accessible-users.js';
import type { User } from '../users/user.js';
import { type Channel, hasSharedHistory, isPrivate, isWebPublic } from './channel.js';
import { hasContentAccess, SPECTATOR_ID } from './channel-access.js';
import { contextFull } from './read-contexts.js';

type Reads = Pick<Repositories | Transaction, 'actors' | 'channels' | 'groups' | 'realms' | 'recipients' | 'users'>;

/**
 * View of the organization that the bot of a token with `readers: 'all'` and every reader of its destination share now
 * (extensions §15).
 */
export interface SharedView {
  readonly realm: Realm;
  /** Has the rights of the least privileged reader, and no data. */
  readonly viewer: Actor;
  /** Channels of which all can read all messages. Private channels with protected history are never among them. */
  readonly channels: ReadonlyMap<ChannelId, Channel>;
  /** Destination, if it is a direct conversation with messages. */
  readonly recipientId: RecipientId | null;
  /** True if a reader sees only some people, who then cannot be named in narrows. */
  readonly isLimited: boolean;
  /** Returns the given people whom a reader may not see. */
  hiddenAmong(ids: Iterable<UserId>): Promise<ReadonlySet<UserId>>;
  /** Returns the readers and the bot among the given people; only subscribers of a private channel. */
  readersAmong(people: readonly Pick<User, 'id' | 'role'>[]): Promise<ReadonlySet<UserId>>;
}

/** Readers whose subscriptions are compared: subscribers of a private channel, or guests of a public one. */
export const MAX_COMPARED_READERS = 1000;
/** Maximum number of pairs of readers and channels that a write compares. */
const MAX_COMPARED = 200_000;

const tooManyReaders = () =>
  new DomainError(
    'TOO_MANY_READERS',
    `The conversation has too many readers for this token (limit: ${MAX_COMPARED_READERS} subscribers or guests).`,
  );

/** Readers of a destination, except the bot. */
interface Readers {
  readonly destination: Channel | null;
  /** Participants of a direct conversation; empty for channels. */
  readonly participants: readonly UserId[];
  readonly guests: readonly UserId[];
  /** Number of readers whose subscriptions are compared. */
  readonly compared: number;
}

/**
 * Returns null unless the caller has such a token. `needed`: the view has only these channels and the destination, which
 * bounds the cost of writes. @throws DomainError TOO_MANY_READERS, READ_CONTEXT_FULL
 */
export async function sharedViewOf(
  reads: Reads,
  caller: Caller,
  needed: ReadonlySet<ChannelId> | null = null,
): Promise<SharedView | null> {
  if (caller.scope?.readers !== 'all') return null;
  const { realmId } = caller;
  const bot = await reads.actors.get(caller);
  const realm = await reads.realms.get(realmId);
  const place = firstOf(caller.scope.conversations);
  const own = new Set(await reads.channels.listSubscribedIds(realmId, bot.id));
  const destinationId = place.kind === 'channel' ? [place.channelId] : [];
  const every = await (needed
    ? reads.channels.list(realmId, [...new Set([...needed, ...destinationId])])
    : reads.channels.listAll(realmId));
  const known = every.filter(
    (channel) => hasSharedHistory(channel) && hasContentAccess(bot, channel, own.has(channel.id)),
  );
  const destination = place.kind === 'channel' ? (every.find(({ id }) => id === place.channelId) ?? null) : null;
  const participants = place.kind === 'direct' ? place.userIds.filter((id) => id !== bot.id) : [];
  const guestIds = (await reads.users.listGuestIds(realmId)).filter((id) => id !== bot.id);
  const guests = destination
    ? await reads.channels.filterSubscribed(realmId, destination.id, guestIds)
    : guestIds.filter((id) => participants.includes(id));
  const compared = !destination
    ? participants.length
    : isPrivate(destination)
      ? (await reads.channels.countSubscribers(realmId, destination.id)) - Number(own.has(destination.id))
      : guests.length;
  if (compared > MAX_COMPARED_READERS) throw tooManyReaders();
  if (needed && compared * needed.size > MAX_COMPARED) throw contextFull();
  const readers = { destination, participants, guests, compared };
  // The readers' rights apply to names in texts even if the bot cannot read the destination.
  const isNowhere = place.kind === 'channel' && !known.some(({ id }) => id === place.channelId);
  const channels = isNowhere ? [] : await channelsOfAll(reads, bot, known, readers);
  const { everyone } = await reads.groups.systemGroupIds(realmId);
  const isOpen = destination !== null && isWebPublic(destination);
  const viewer: Actor = {
    id: SPECTATOR_ID,
    realmId,
    role: isOpen || guests.length > 0 ? 'guest' : 'member',
    isBot: false,
    botOwnerId: null,
    groups: new Set(realm.permissions.canAccessAllUsers === everyone ? [everyone] : []),
  };
  return {
    realm,
    viewer,
    channels: new Map(channels.map((channel) => [channel.id, channel])),
    recipientId: place.kind === 'direct' ? await reads.recipients.findDirect(realmId, place.userIds) : null,
    isLimited: isLimitedGuest(viewer, realm),
    hiddenAmong: async (ids) => {
      const hidden = await inaccessibleUserIds(reads, viewer, realm, ids);
      if (hidden.size === 0 || isOpen) return hidden;
      // All readers share the destination with these people.
      const partners = destination
        ? await reads.channels.filterSubscribed(realmId, destination.id, [...hidden])
        : participants.filter((id) => hidden.has(id));
      const visible = new Set(await reads.users.listActiveIds(realmId, partners));
      return new Set([...hidden].filter((id) => !visible.has(id)));
    },
    readersAmong: async (people) => {
      const ids = people.map(({ id }) => id);
      if (place.kind === 'direct') return new Set(place.userIds);
      if (!destination) return new Set();
      const subscribers = await reads.channels.filterSubscribed(realmId, destination.id, ids);
      const members = isPrivate(destination) ? [] : people.filter(({ role }) => role !== 'guest').map(({ id }) => id);
      return new Set([...subscribers, ...members]);
    },
  };
}

/** Returns those of the channels that all readers can read. */
async function channelsOfAll(
  { channels, groups }: Reads,
  { id: botId, realmId }: Actor,
  known: readonly Channel[],
  { destination, participants, guests, compared }: Readers,
): Promise<readonly Channel[]> {
  // Anybody on the internet is a reader.
  if (destination && isWebPublic(destination)) return known.filter(isWebPublic);
  const chosen = new Set<ChannelId>(known.filter(isWebPublic).map(({ id }) => id));
  if (destination) chosen.add(destination.id);
  const among = (wanted: (channel: Channel) => boolean) => known.filter(wanted).map(({ id }) => id);
  const add = (ids: readonly ChannelId[]) => {
    for (const id of ids) chosen.add(id);
  };
  const isReadByOthers = !destination || !isPrivate(destination) || compared > 0;
  if (isReadByOthers) {
    const open = among((channel) => !isPrivate(channel));
    add(guests.length === 0 ? open : await channels.filterWithAll(realmId, open, guests));
    if (!destination) add(await channels.filterWithAll(realmId, among(isPrivate), participants));
    else if (isPrivate(destination)) {
      const { nobody } = await groups.systemGroupIds(realmId);
      const holders = [...contentGroups(destination)].filter((id) => id !== nobody);
      const closed = among((channel) => isPrivate(channel) && isSuperset(contentGroups(channel), holders));
      add(await channels.filterWithAll(realmId, closed, { subscribersOf: destination.id, except: botId }));
    }
  }
  return known.filter(({ id }) => chosen.has(id));
}

/** Groups whose members can read a private channel without a subscription. */
const contentGroups = ({ permissions }: Channel): ReadonlySet<GroupId> =>
  new Set([permissions.canAddSubscribers, permissions.canSubscribe]);

const isSuperset = (set: ReadonlySet<GroupId>, ids: readonly GroupId[]): boolean => ids.every((id) => set.has(id));
