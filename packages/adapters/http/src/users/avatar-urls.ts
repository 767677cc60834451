import { createHash } from 'node:crypto';
import type { RealmUrls } from '@parley/domain/kernel';
import type { UserSummary } from '@parley/domain/messages';
import type { Realm } from '@parley/domain/realms';
import type { Avatar } from '@parley/domain/users';
import { type PublicRealm, publicRealmOf } from '../delivery/public-realm.js';

/** User properties that determine the avatar URL. */
export interface AvatarOwner {
  readonly id: number;
  /** Address the user signs in with. */
  readonly email: string;
  readonly avatar: Avatar;
}

/** Viewer properties that determine the avatar URL. */
export interface AvatarViewer {
  /** True if the viewer may see the email address; a gravatar URL contains its hash. */
  readonly seesEmail: boolean;
  /** True if the client computes gravatar URLs itself. */
  readonly clientGravatar: boolean;
}

/**
 * Returns the avatar URL, or null if the client computes it from the email address (messages §2.2, users §1.3).
 * Viewers without access to the address get a generated picture instead of the gravatar (contract decision 21).
 */
export function avatarUrl(person: AvatarOwner, publicRealm: PublicRealm, { seesEmail, clientGravatar }: AvatarViewer) {
  if (person.avatar.source !== 'gravatar' || !seesEmail) return ownAvatarUrl(person, publicRealm);
  return clientGravatar ? null : gravatarUrl(person);
}

/** Returns the avatar URL at 500 instead of 100 pixels. */
export function mediumAvatarUrl(
  person: AvatarOwner,
  publicRealm: PublicRealm,
  { seesEmail, clientGravatar }: AvatarViewer,
) {
  if (person.avatar.source !== 'gravatar' || !seesEmail) return ownAvatarUrl(person, publicRealm, '-medium');
  return clientGravatar ? null : `${gravatarUrl(person)}&s=500`;
}

/**
 * Returns the URL of an uploaded or generated avatar, served by `avatars.ts`. The version changes with each picture, so
 * caches may keep the response.
 */
function ownAvatarUrl({ id, avatar }: AvatarOwner, publicRealm: PublicRealm, suffix = ''): string {
  const name = avatar.source === 'uploaded' ? avatar.key : id;
  return `${publicRealm.url}/user_avatars/${publicRealm.id}/${name}${suffix}.png?version=${avatar.version}`;
}

/** Returns the gravatar URL required by the contract. Only clients fetch it; the server never does. */
function gravatarUrl({ email, avatar }: AvatarOwner): string {
  const hash = createHash('md5').update(email.toLowerCase()).digest('hex');
  return `https://secure.gravatar.com/avatar/${hash}?d=identicon&version=${avatar.version}`;
}

/** URL of the picture for users whom the viewer may not access. */
export const unknownAvatarUrl = ({ url, id }: PublicRealm): string => `${url}/user_avatars/${id}/unknown.png`;

/** Returns the absolute URL of a sender's picture for notifications; null for a hidden sender. */
export function senderAvatarUrl(realm: Realm, sender: UserSummary | null, realmUrls: RealmUrls): string {
  const publicRealm = publicRealmOf(realm, realmUrls);
  if (!sender) return unknownAvatarUrl(publicRealm);
  return avatarUrl(sender, publicRealm, { seesEmail: sender.emailVisibility === 'everyone', clientGravatar: false })!;
}
