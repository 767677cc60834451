import type { RealmUrls } from '@parley/domain/kernel';
import type { Realm } from '@parley/domain/realms';
import type { DevelopmentUsers, IssuedKey, OpenedSession } from '@parley/domain/users';
import type { WireFields } from '../kernel/reply.js';
import { publicRealmOf } from '../realms/public-realm.js';
import { presentUser } from './user.presenters.js';

/** `email` as it is stored; a client compares it with what it asked for. */
export const presentApiKey = ({ apiKey, user }: IssuedKey): WireFields => ({
  api_key: apiKey,
  email: user.email,
  user_id: user.id,
});

/** The session itself is in the cookies (protocol §7.6). */
export const presentLogIn = ({ user }: OpenedSession): WireFields => ({ email: user.email, user_id: user.id });

/** Protocol §8.2: the profile as one's own client shows it, without what the organization asks for. */
export const presentKeyOfToken = (
  { apiKey, user, realm }: IssuedKey & { readonly realm: Realm },
  withProfile: boolean,
  realmUrls: RealmUrls,
): WireFields => ({
  api_key: apiKey,
  email: user.email,
  ...(withProfile && {
    user: presentUser(user, publicRealmOf(realm, realmUrls), {
      seesEmail: true,
      clientGravatar: false,
      withProfile: false,
    }),
  }),
});

/** Protocol §8.2. */
export function presentDevelopmentUsers({ administrators, others, realmUrl }: DevelopmentUsers): WireFields {
  const present = (email: string) => ({ email, realm_uri: realmUrl });
  return { direct_admins: administrators.map(present), direct_users: others.map(present) };
}
