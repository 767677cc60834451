import type { UserId } from '../kernel/ids.js';
import type { Repositories, Transaction } from '../kernel/unit-of-work.js';
import { ENTITIES_PER_PAGE } from '../kernel/work.js';
import type { User } from '../users/user.js';
import { emailKey, externalIdKey, findPlaceholder } from './placeholders.js';

/** Key that links a user to a visit or erased placeholder of the same person. It does not claim the account. */
const visitKey = (userId: UserId): string => `visit:${userId}`;

/** Remembers that a visit or erased placeholder is of the same person. Each one leads to the user's earlier one. */
export async function linkVisit(tx: Transaction, { realmId, id: visitorId }: User, userId: UserId): Promise<void> {
  const earlier = await tx.placeholderKeys.findByKey(realmId, visitKey(userId));
  if (earlier) await tx.placeholderKeys.update({ ...earlier, key: visitKey(visitorId) });
  await tx.placeholderKeys.add({ realmId, placeholderId: visitorId, key: visitKey(userId) });
}

/** Returns the placeholders that were merged into the user. */
async function mergedInto(
  reads: Repositories | Transaction,
  { realmId, id: userId }: User,
): Promise<readonly UserId[]> {
  const ids: UserId[] = [];
  for (const { id } of await reads.importBatches.list(realmId)) {
    const merges = { id, kind: 'merge' } as const;
    let after = { targetId: userId as number, recordId: '' };
    let page: readonly { readonly targetId: number; readonly recordId: string }[];
    do {
      page = await reads.importedRecords.listOfBatch(realmId, merges, after, ENTITIES_PER_PAGE);
      for (const { recordId, targetId } of page) if (targetId === userId) ids.push(Number(recordId) as UserId);
      after = page.at(-1) ?? after;
    } while (page.length === ENTITIES_PER_PAGE && after.targetId === userId);
  }
  return ids;
}

/**
 * Returns other accounts of the same person: placeholders that were merged into the account or that its identities
 * claim, and the latest visit.
 */
export async function otherAccountsOf(reads: Repositories | Transaction, user: User): Promise<readonly User[]> {
  const { realmId, id, email, externalId } = user;
  const merged = await mergedInto(reads, user);
  const visit = await reads.placeholderKeys.findByKey(realmId, visitKey(id));
  const accounts = await reads.users.list(realmId, visit ? [...merged, visit.placeholderId] : merged);
  const found = new Map(accounts.map((account) => [account.id, account]));
  const keys = [emailKey(email)];
  for (const { method, subject } of await reads.logIns.listLinked(realmId, id))
    keys.push(externalIdKey(method, subject));
  if (externalId !== undefined) keys.push(externalIdKey('host', externalId), externalIdKey('scim', externalId));
  for (const key of keys) {
    const placeholder = await findPlaceholder(reads, realmId, [key]);
    if (placeholder) found.set(placeholder.id, placeholder);
  }
  return [...found.values()];
}
