import type { RealmId, UserId } from '../kernel/ids.js';
import { foldCase } from '../kernel/text.js';
import type { Repositories, Transaction } from '../kernel/unit-of-work.js';
import { isEmailPublic } from './email-visibility.js';
import type { User } from './user.js';

/** `user7@host` as `dummyAddress` makes it; null for any other address. */
export function idInDummyAddress(address: string, host: string): UserId | null {
  const match = /^user(\d{1,15})@(.+)$/.exec(foldCase(address.trim()));
  return match && match[2] === foldCase(host) ? (Number(match[1]) as UserId) : null;
}

/**
 * Whoever is known to everybody by one of these addresses: a dummy one, or their own where all may see it. By address as
 * given; addresses that are nobody's are absent. System bots too.
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
  const others = realmUrls.filter((address) => !dummies.has(address));
  const byEmail = new Map<string, User>();
  for (const user of await users.listByEmail(realmId, others)) {
    if (isEmailPublic(user)) byEmail.set(foldCase(user.email), user);
  }
  const result = new Map<string, User>();
  for (const address of realmUrls) {
    const id = dummies.get(address);
    const user = id === undefined ? byEmail.get(foldCase(address.trim())) : byId.get(id);
    if (user) result.set(address, user);
  }
  return result;
}
