import { isAdministrator, isGuest } from '../access/actor.js';
import { isGranted, type PermissionHolder } from '../access/is-granted.js';
import { all, allowed, type Decision, denied, denyIf } from '../kernel/permission.js';
import type { Realm } from '../realms/realm.js';
import {
  CHANNEL_PERMISSIONS,
  type Channel,
  type ChannelPermission,
  hasSharedHistory,
  isPrivate,
  isWebPublic,
} from './channel.js';

/** What access reads of a channel. */
export type ChannelRights = Pick<Channel, 'privacy' | 'permissions'>;

/** The same text whether the channel does not exist, is another realm's, or is hidden from whoever asks (channels §1). */
export const unknownChannel: Decision = denied('UNKNOWN_CHANNEL', 'Invalid channel ID');
export const unknownUnless = (accessible: boolean): Decision => (accessible ? allowed : unknownChannel);

export function hasChannelPermission(
  actor: PermissionHolder,
  channel: Pick<Channel, 'permissions'>,
  permission: ChannelPermission,
): boolean {
  return isGranted(actor, channel.permissions[permission], CHANNEL_PERMISSIONS[permission]);
}

/** By group: organization administrators are not meant unless they are in it. */
export const isChannelAdministrator = (actor: PermissionHolder, channel: Pick<Channel, 'permissions'>): boolean =>
  hasChannelPermission(actor, channel, 'canAdministerChannel');

export const mayAdminister = (actor: PermissionHolder, channel: Pick<Channel, 'permissions'>): boolean =>
  isAdministrator(actor) || isChannelAdministrator(actor, channel);

/** By grant alone, without subscribing: never guests. */
export const hasContentPermission = (actor: PermissionHolder, channel: Pick<Channel, 'permissions'>): boolean =>
  hasChannelPermission(actor, channel, 'canAddSubscribers') || hasChannelPermission(actor, channel, 'canSubscribe');

/** content(u, c) of channels §3.7: may read what is said in it, from some point on. Archiving changes nothing. */
export function hasContentAccess(actor: PermissionHolder, channel: ChannelRights, isSubscribed: boolean): boolean {
  if (isWebPublic(channel) || isSubscribed) return true;
  return !isGuest(actor) && (!isPrivate(channel) || hasContentPermission(actor, channel));
}

/** metadata(u, c) of channels §3.7: may know that it exists, and what it is called. */
export function hasMetadataAccess(actor: PermissionHolder, channel: ChannelRights, isSubscribed: boolean): boolean {
  return hasContentAccess(actor, channel, isSubscribed) || (!isGuest(actor) && mayAdminister(actor, channel));
}

/** fullHistory(u, c) of channels §3.7: may read what they never received. */
export function hasFullHistoryAccess(actor: PermissionHolder, channel: ChannelRights, isSubscribed: boolean): boolean {
  return hasSharedHistory(channel) && hasContentAccess(actor, channel, isSubscribed);
}

export const canReadContent = (actor: PermissionHolder, channel: ChannelRights, isSubscribed: boolean): Decision =>
  unknownUnless(hasContentAccess(actor, channel, isSubscribed));

export const canSeeMetadata = (actor: PermissionHolder, channel: ChannelRights, isSubscribed: boolean): Decision =>
  unknownUnless(hasMetadataAccess(actor, channel, isSubscribed));

export const canReadFullHistory = (actor: PermissionHolder, channel: ChannelRights, isSubscribed: boolean): Decision =>
  unknownUnless(hasFullHistoryAccess(actor, channel, isSubscribed));

/** For what works on channels in use only: an archived one is as good as unknown (channels §3.7). */
export const canReadActive = (
  actor: PermissionHolder,
  channel: ChannelRights & Pick<Channel, 'isArchived'>,
  isSubscribed: boolean,
): Decision => unknownUnless(!channel.isArchived && hasContentAccess(actor, channel, isSubscribed));

/** The same for those who only have to know of it. */
export const canSeeActive = (
  actor: PermissionHolder,
  channel: ChannelRights & Pick<Channel, 'isArchived'>,
  isSubscribed: boolean,
): Decision => unknownUnless(!channel.isArchived && hasMetadataAccess(actor, channel, isSubscribed));

/** What reading without logging in depends on beside the organization's setting. */
export interface SpectatorAccess extends WebPublicOption {
  /** In use. */
  readonly hasWebPublicChannel: boolean;
}

/** Whether anybody may read anything without logging in (protocol §9). */
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

/** One channel, and its topics, without logging in (channels §3.1, §5.3). */
export const canSpectateChannel = (
  realm: Pick<Realm, 'settings'>,
  channel: Pick<Channel, 'privacy'>,
  spectators: SpectatorAccess,
): Decision => all(canSpectate(realm, spectators), unknownUnless(isWebPublic(channel)));

/** Whoever knows of a channel knows who is in it (channels §3.8, §4.10). */
export const canListSubscribers = canSeeMetadata;

export interface WebPublicOption {
  /** Whether the server allows channels that anybody on the Internet reads. */
  readonly webPublicEnabled: boolean;
}
