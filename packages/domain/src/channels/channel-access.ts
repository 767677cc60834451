import { type Actor, isAdministrator, isGuest } from '../access/actor.js';
import { isGranted, type PermissionHolder } from '../access/group-settings.js';
import { DomainError } from '../kernel/errors.js';
import type { ChannelId, UserId } from '../kernel/ids.js';
import { all, allowed, type Decision, denied, denyIf, enforce } from '../kernel/permission.js';
import type { RealmUrls } from '../kernel/ports.js';
import { foldCase, trim } from '../kernel/text.js';
import type { Repositories, Transaction } from '../kernel/unit-of-work.js';
import { firstOf, getOrThrow } from '../kernel/work.js';
import type { Realm } from '../realms/realm.js';
import { conversationPartnerIds } from '../users/accessible-users.js';
import { findByPublicAddress } from '../users/find-user.js';
import type { User } from '../users/user.js';
import { canAccessUser } from '../users/user-permissions.js';
import {
  byFoldedName,
  CHANNEL_PERMISSIONS,
  type Channel,
  type ChannelPermission,
  hasSharedHistory,
  isPrivate,
  isWebPublic,
} from './channel.js';

/** Channel properties that access rules depend on. */
export type ChannelRights = Pick<Channel, 'privacy' | 'permissions'>;

/**
 * Denial with the same text for a missing channel, one of another realm and one hidden from the caller (channels §1).
 */
export const unknownChannel: Decision = denied('UNKNOWN_CHANNEL', 'Invalid channel ID');
export const unknownUnless = (accessible: boolean): Decision => (accessible ? allowed : unknownChannel);

export function hasChannelPermission(
  actor: PermissionHolder,
  channel: Pick<Channel, 'permissions'>,
  permission: ChannelPermission,
): boolean {
  return isGranted(actor, channel.permissions[permission], CHANNEL_PERMISSIONS[permission]);
}

/** True for members of the permission's group; organization administrators are not included automatically. */
export const isChannelAdministrator = (actor: PermissionHolder, channel: Pick<Channel, 'permissions'>): boolean =>
  hasChannelPermission(actor, channel, 'canAdministerChannel');

export const mayAdminister = (actor: PermissionHolder, channel: Pick<Channel, 'permissions'>): boolean =>
  isAdministrator(actor) || isChannelAdministrator(actor, channel);

/** True if a permission alone grants content access without a subscription; never for guests. */
export const hasContentPermission = (actor: PermissionHolder, channel: Pick<Channel, 'permissions'>): boolean =>
  hasChannelPermission(actor, channel, 'canAddSubscribers') || hasChannelPermission(actor, channel, 'canSubscribe');

/** content(u, c) of channels §3.7: may read messages, possibly only from some point on. Archiving has no effect. */
export function hasContentAccess(actor: PermissionHolder, channel: ChannelRights, isSubscribed: boolean): boolean {
  if (isWebPublic(channel) || isSubscribed) return true;
  return !isGuest(actor) && (!isPrivate(channel) || hasContentPermission(actor, channel));
}

/** metadata(u, c) of channels §3.7: may see the channel and its name. */
export function hasMetadataAccess(actor: PermissionHolder, channel: ChannelRights, isSubscribed: boolean): boolean {
  return hasContentAccess(actor, channel, isSubscribed) || (!isGuest(actor) && mayAdminister(actor, channel));
}

/** fullHistory(u, c) of channels §3.7: may read messages sent before subscribing. */
export function hasFullHistoryAccess(actor: PermissionHolder, channel: ChannelRights, isSubscribed: boolean): boolean {
  return hasSharedHistory(channel) && hasContentAccess(actor, channel, isSubscribed);
}

export const canReadContent = (actor: PermissionHolder, channel: ChannelRights, isSubscribed: boolean): Decision =>
  unknownUnless(hasContentAccess(actor, channel, isSubscribed));

export const canSeeMetadata = (actor: PermissionHolder, channel: ChannelRights, isSubscribed: boolean): Decision =>
  unknownUnless(hasMetadataAccess(actor, channel, isSubscribed));

export const canReadFullHistory = (actor: PermissionHolder, channel: ChannelRights, isSubscribed: boolean): Decision =>
  unknownUnless(hasFullHistoryAccess(actor, channel, isSubscribed));

/** Requires an active channel; an archived channel is reported as unknown (channels §3.7). */
export const canReadActive = (
  actor: PermissionHolder,
  channel: ChannelRights & Pick<Channel, 'isArchived'>,
  isSubscribed: boolean,
): Decision => unknownUnless(!channel.isArchived && hasContentAccess(actor, channel, isSubscribed));

/** Requires an active channel with metadata visible to the actor. */
export const canSeeActive = (
  actor: PermissionHolder,
  channel: ChannelRights & Pick<Channel, 'isArchived'>,
  isSubscribed: boolean,
): Decision => unknownUnless(!channel.isArchived && hasMetadataAccess(actor, channel, isSubscribed));

/** Conditions for anonymous access in addition to the organization's setting. */
export interface SpectatorAccess extends WebPublicOption {
  /** True if there is a web-public channel that is not archived. */
  readonly hasWebPublicChannel: boolean;
}

/** True if anonymous callers may read anything (protocol §9). */
export function canSpectate(
  realm: Pick<Realm, 'settings'>,
  { webPublicEnabled, hasWebPublicChannel }: SpectatorAccess,
): Decision {
  return denyIf(
    !webPublicEnabled || !realm.settings.enableSpectatorAccess || !hasWebPublicChannel,
    'UNAUTHENTICATED',
    'Not logged in: API authentication or user session required',
  );
}

/** Allows anonymous access to one channel and its topics (channels §3.1, §5.3). */
export const canSpectateChannel = (
  realm: Pick<Realm, 'settings'>,
  channel: Pick<Channel, 'privacy'>,
  spectators: SpectatorAccess,
): Decision => all(canSpectate(realm, spectators), unknownUnless(isWebPublic(channel)));

/** Metadata access includes the list of subscribers (channels §3.8, §4.10). */
export const canListSubscribers = canSeeMetadata;

/** Reserved id that no user has. */
export const SPECTATOR_ID = 0 as UserId;

export interface WebPublicOption {
  /** True if the server allows web-public channels. */
  readonly webPublicEnabled: boolean;
}

/**
 * Returns an active channel that the actor can read. @throws DomainError UNKNOWN_CHANNEL for both missing and hidden
 * channels
 */
export const getReadableChannel = async (
  reads: Reads,
  actor: Actor,
  name: string,
  rule: typeof canReadActive = canReadActive,
): Promise<Channel> => firstOf(await listReadableChannels(reads, actor, [name], rule));

/**
 * Returns several readable active channels without duplicates, in the given order. @throws DomainError UNKNOWN_CHANNEL
 * for the first unreadable one
 */
export async function listReadableChannels(
  { channels }: Reads,
  actor: Actor,
  names: readonly string[],
  rule: typeof canReadActive = canReadActive,
): Promise<readonly Channel[]> {
  const found = byFoldedName(await channels.listByName(actor.realmId, names.map(trim)));
  const subscribed = await subscribedAmong({ channels }, actor, [...found.values()]);
  const readable = new Set<Channel>();
  for (const name of names) {
    const channel = found.get(foldCase(trim(name)));
    if (!channel || !rule(actor, channel, subscribed.has(channel.id)).allowed) {
      throw new DomainError('UNKNOWN_CHANNEL', `Invalid channel name '${name}'`);
    }
    readable.add(channel);
  }
  return [...readable];
}

type Reads = Pick<Repositories | Transaction, 'channels'>;

/** Returns the given channels that the actor is subscribed to, whatever else the actor is subscribed to. */
export async function subscribedAmong(
  { channels }: Reads,
  { id, realmId }: Pick<Actor, 'id' | 'realmId'>,
  given: readonly Pick<Channel, 'id'>[],
): Promise<ReadonlySet<ChannelId>> {
  if (given.length === 0) return new Set();
  const channelIds = given.map((channel) => channel.id);
  const rows = getOrThrow(await channels.listSubscriptionsOf(realmId, [id], channelIds), id);
  return new Set(rows.flatMap(({ channelId, isActive }) => (isActive ? [channelId] : [])));
}

/** Returns the channels of a set that the actor can see, archived or not. */
export async function visibleChannels(
  reads: Pick<Repositories, 'channels'>,
  actor: Actor,
  ids: readonly ChannelId[],
): Promise<readonly Channel[]> {
  const channels = await reads.channels.list(actor.realmId, ids);
  const subscribed = await subscribedAmong(reads, actor, channels);
  return channels.filter((channel) => hasMetadataAccess(actor, channel, subscribed.has(channel.id)));
}

export interface LoadedChannel {
  readonly channel: Channel;
  /** True if the actor is subscribed. */
  readonly isSubscribed: boolean;
}

/**
 * Loads a channel named by the actor and applies the rule.
 * @throws DomainError UNKNOWN_CHANNEL and the rejections of the rule
 */
export async function loadChannel(
  { channels }: Pick<Repositories | Transaction, 'channels'>,
  actor: Actor,
  id: ChannelId,
  rule: (actor: Actor, channel: Channel, isSubscribed: boolean) => Decision,
): Promise<LoadedChannel> {
  const channel = await channels.find(actor.realmId, id);
  const isSubscribed = await channels.isSubscribed(actor.realmId, id, actor.id);
  enforce(channel ? rule(actor, channel, isSubscribed) : unknownChannel);
  return { channel: channel!, isSubscribed };
}

/** Users named either by id or by public address, never both. */
export type Principals = readonly UserId[] | { readonly emails: readonly string[] };

/** Counts the given users; null means the caller alone. */
export function countPrincipals(principals: Principals | null): number {
  if (principals === null) return 1;
  return 'emails' in principals ? principals.emails.length : principals.length;
}

/**
 * Returns the distinct users to subscribe or unsubscribe. @throws DomainError `No such user` if one is unknown,
 * otherwise `User is deactivated` or `Insufficient permission` for the first violation (channels §4.5)
 */
export async function findPrincipals(
  tx: Pick<Repositories | Transaction, 'users'>,
  actor: Actor,
  realm: Realm,
  principals: Principals,
  realmUrls: RealmUrls,
): Promise<readonly User[]> {
  const users = new Map<UserId, User>();
  if ('emails' in principals) {
    const found = await findByPublicAddress(tx, realm.id, principals.emails, realmUrls.emailDomainOf(realm));
    for (const email of principals.emails) {
      const user = found.get(email);
      if (!user) throw new DomainError('UNKNOWN_USER', 'No such user');
      users.set(user.id, user);
    }
  } else {
    const found = new Map((await tx.users.list(realm.id, principals)).map((user) => [user.id, user]));
    for (const id of principals) {
      const user = found.get(id);
      if (!user) throw new DomainError('UNKNOWN_USER', 'No such user');
      users.set(id, user);
    }
  }
  const partners = await conversationPartnerIds(tx, actor, realm);
  for (const user of users.values()) {
    enforce(canAccessUser(actor, user, { realm, sharesConversation: partners.has(user.id), allowBots: true }));
  }
  return [...users.values()];
}
