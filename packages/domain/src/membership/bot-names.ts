import './bot-errors.js';
import { DomainError } from '../kernel/errors.js';
import type { RealmId, UserId } from '../kernel/ids.js';
import type { RealmUrls } from '../kernel/realm-urls.js';
import { trim } from '../kernel/text.js';
import type { Repositories, Transaction } from '../kernel/unit-of-work.js';
import type { Realm } from '../realms/realm.js';
import { isEmailAddress } from '../users/email-address.js';
import { MAX_BOTS } from './bot-options.js';

type Reads<K extends keyof Repositories> = Pick<Repositories | Transaction, K>;

/** What a bot is called by where addresses are asked for (users §15). @throws DomainError INVALID_EMAIL */
export function botEmail(realm: Realm, realmUrls: RealmUrls, shortName: string): string {
  const name = trim(shortName);
  const email = `${name}-bot@${realmUrls.emailDomainOf(realm)}`;
  if (name === '' || !isEmailAddress(email)) throw new DomainError('INVALID_EMAIL', 'Bad name or username');
  return email;
}

/** By another than the bot itself. @throws DomainError EMAIL_TAKEN */
export async function requireUnusedEmail(
  { users }: Reads<'users'>,
  { id: realmId }: Pick<Realm, 'id'>,
  email: string,
  botId: UserId | null,
): Promise<void> {
  const [owner] = await users.listByEmail(realmId, [email]);
  if (owner && owner.id !== botId) throw new DomainError('EMAIL_TAKEN', 'Username already in use');
}

/** Bots have names that no other active user has (users §15). @throws DomainError BOT_NAME_TAKEN */
export async function requireUnusedName({ users }: Reads<'users'>, realmId: RealmId, fullName: string): Promise<void> {
  const named = await users.listByName(realmId, [fullName]);
  if (named.some((user) => user.isActive && user.fullName === fullName)) {
    throw new DomainError('BOT_NAME_TAKEN', 'Name is already in use!');
  }
}

/** For one bot more. @throws DomainError TOO_MANY_BOTS */
export async function requireRoom({ bots }: Reads<'bots'>, realmId: RealmId, ownerId: UserId): Promise<void> {
  if ((await bots.listOwnedIds(realmId, ownerId)).length >= MAX_BOTS) {
    throw new DomainError('TOO_MANY_BOTS', `Too many bots (limit: ${MAX_BOTS}).`);
  }
}
