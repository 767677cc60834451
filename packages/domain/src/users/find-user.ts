import type { Actor } from '../access/actor.js';
import { DomainError } from '../kernel/errors.js';
import type { RealmId, UserId } from '../kernel/ids.js';
import { enforce } from '../kernel/permission.js';
import type { RealmUrls } from '../kernel/ports.js';
import { foldCase } from '../kernel/text.js';
import type { Repositories, Transaction } from '../kernel/unit-of-work.js';
import type { Realm } from '../realms/realm.js';
import { canFindByEmail, conversationPartnerIds, isEmailPublic } from './accessible-users.js';
import type { User } from './user.js';
import { canAccessUser, type TargetKinds } from './user-permissions.js';

/** Prefix of external ids where emails are accepted: `external:u1`. No email starts with it. */
const EXTERNAL = 'external:';

/** Returns the external id in `external:u1`; null for any other text. */
export const externalIdIn = (address: string): string | null =>
  address.startsWith(EXTERNAL) ? address.slice(EXTERNAL.length) : null;

/** Returns the user id in a dummy email such as `user7@host`; null for any other email. */
export function idInDummyAddress(address: string, host: string): UserId | null {
  const match = /^user(\d{1,15})@(.+)$/.exec(foldCase(address.trim()));
  return match && match[2] === foldCase(host) ? (Number(match[1]) as UserId) : null;
}

/**
 * Finds users by dummy email, by `external:` plus external id or, if public, by real email. Keyed by email as given;
 * unknown ones are absent. Includes system bots.
 */
export async function findByPublicAddress(
  { users }: Pick<Repositories | Transaction, 'users'>,
  realmId: RealmId,
  realmUrls: readonly string[],
  emailDomain: string,
): Promise<ReadonlyMap<string, User>> {
  const dummies = new Map<string, UserId>();
  for (const address of realmUrls) {
    const id = idInDummyAddress(address, emailDomain);
    if (id !== null) dummies.set(address, id);
  }
  const byId = new Map((await users.list(realmId, [...dummies.values()])).map((user) => [user.id, user]));
  const externalIds = realmUrls.flatMap((address) => externalIdIn(address) ?? []);
  const named = externalIds.length === 0 ? [] : await users.listByExternalId(realmId, externalIds);
  const byExternalId = new Map(named.map((user) => [user.externalId!, user]));
  const others = realmUrls.filter((address) => !dummies.has(address) && externalIdIn(address) === null);
  const byEmail = new Map<string, User>();
  for (const user of await users.listByEmail(realmId, others)) {
    if (isEmailPublic(user)) byEmail.set(foldCase(user.email), user);
  }
  const result = new Map<string, User>();
  for (const address of realmUrls) {
    const id = dummies.get(address);
    const externalId = externalIdIn(address);
    const user =
      externalId !== null
        ? byExternalId.get(externalId)
        : id === undefined
          ? byEmail.get(foldCase(address.trim()))
          : byId.get(id);
    if (user) result.set(address, user);
  }
  return result;
}

export type UserReference = { readonly id: UserId } | { readonly email: string };

/**
 * Finds a user by id, email or `external:` plus external id (users §2); null if there is none. A hidden email is
 * indistinguishable from an unknown one.
 */
export async function findReferencedUser(
  { users }: Pick<Repositories | Transaction, 'users'>,
  viewer: Actor,
  realm: Realm,
  realmUrls: RealmUrls,
  by: UserReference,
): Promise<User | null> {
  if ('id' in by) return users.find(realm.id, by.id);
  const externalId = externalIdIn(by.email);
  if (externalId !== null) return (await users.listByExternalId(realm.id, [externalId]))[0] ?? null;
  const id = idInDummyAddress(by.email, realmUrls.emailDomainOf(realm));
  if (id !== null) return users.find(realm.id, id);
  const found = await users.findByEmail(realm.id, by.email.trim());
  return found && canFindByEmail(viewer, found) ? found : null;
}

/**
 * Loads a user named by the actor, if visible to the actor (users §0).
 * @throws DomainError UNKNOWN_USER, NAMED_USER_DEACTIVATED, NOT_PERMITTED
 */
export async function loadUser(
  reads: Pick<Repositories | Transaction, 'realms' | 'users'>,
  actor: Actor,
  id: UserId,
  kinds: TargetKinds,
): Promise<User> {
  const realm = await reads.realms.get(actor.realmId);
  const user = await reads.users.find(realm.id, id);
  const partners = await conversationPartnerIds(reads, actor, realm);
  enforce(canAccessUser(actor, user, { realm, sharesConversation: partners.has(id), ...kinds }));
  if (!user) throw new DomainError('UNKNOWN_USER', 'No such user');
  return user;
}
