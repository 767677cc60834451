import { createHash } from 'node:crypto';
import type { Avatar } from '@parley/domain/users';
import type { PublicRealm } from '../kernel/public-realm.js';

/** Whoever has an avatar, as far as its address depends on them. */
export interface AvatarOwner {
  readonly id: number;
  /** The address they sign in with. */
  readonly email: string;
  readonly avatar: Avatar;
}

/** Who looks at it. */
export interface AvatarViewer {
  /** May see the address, of which a gravatar's URL holds a hash. */
  readonly seesEmail: boolean;
  /** The client works gravatars out by itself. */
  readonly clientGravatar: boolean;
}

/**
 * Where the picture is, or null where the client works it out from the address it knows (messages §2.2, users §1.3). Whoever
 * may not see the address gets the picture that we draw instead of the gravatar (contract decision 21).
 */
export function avatarUrl(person: AvatarOwner, publicRealm: PublicRealm, { seesEmail, clientGravatar }: AvatarViewer) {
  if (person.avatar.source !== 'gravatar' || !seesEmail) return ownAvatarUrl(person, publicRealm);
  return clientGravatar ? null : gravatarUrl(person);
}

/** The same in 500 instead of 100 pixels. */
export function mediumAvatarUrl(
  person: AvatarOwner,
  publicRealm: PublicRealm,
  { seesEmail, clientGravatar }: AvatarViewer,
) {
  if (person.avatar.source !== 'gravatar' || !seesEmail) return ownAvatarUrl(person, publicRealm, '-medium');
  return clientGravatar ? null : `${gravatarUrl(person)}&s=500`;
}

/** Uploaded or drawn: `avatar.routes.ts` serves it. A version of its own for each picture, so caches may keep it. */
function ownAvatarUrl({ id, avatar }: AvatarOwner, publicRealm: PublicRealm, suffix = ''): string {
  const name = avatar.source === 'uploaded' ? avatar.key : id;
  return `${publicRealm.url}/user_avatars/${publicRealm.id}/${name}${suffix}.png?version=${avatar.version}`;
}

/** For clients to fetch or not; we never do. The contract's own address. */
function gravatarUrl({ email, avatar }: AvatarOwner): string {
  const hash = createHash('md5').update(email.toLowerCase()).digest('hex');
  return `https://secure.gravatar.com/avatar/${hash}?d=identicon&version=${avatar.version}`;
}

/** The picture of whoever the viewer may not know. */
export const unknownAvatarUrl = ({ url, id }: PublicRealm): string => `${url}/user_avatars/${id}/unknown.png`;
