import type { ImportedRealm, RealmReader } from '@parley/domain/exports';
import { type AccessCopy, newAccess, type Readers } from '@parley/domain/imports';
import { invalidImport, type RecipientId, type UserId } from '@parley/domain/kernel';
import type { ImportPlan } from './plan.js';
import { targetAccess } from './plan-access.js';

/**
 * Compares the stored organization with the plan: numbers of objects, and readers of every conversation. @throws
 * DomainError INVALID_IMPORT
 */
export async function verifyImport(
  { access, summary }: Pick<ImportPlan, 'access' | 'summary'>,
  { realmId, counts, users, recipients }: ImportedRealm,
  reader: Pick<RealmReader, 'open'>,
): Promise<void> {
  for (const kind of ['channels', 'messages'] as const) {
    if (counts[kind] !== summary[kind]) {
      throw invalidImport(`It has ${summary[kind]} ${kind}, but ${counts[kind]} were imported.`);
    }
  }
  const stored = await reader.open(realmId, { covers: 'all' });
  const people = [];
  for await (const person of stored.people()) people.push(person);
  const [added] = newAccess(renumbered(access, users, recipients), targetAccess(stored.realm, people));
  if (added)
    throw invalidImport(`User ${added.person} could read conversation ${added.conversation} only after the import.`);
}

/** Returns the readers by ids of this server. */
function renumbered(
  access: AccessCopy<UserId>,
  users: ImportedRealm['users'],
  recipients: ImportedRealm['recipients'],
): AccessCopy<UserId> {
  const idsOf = (ids: Iterable<UserId>) => new Set(users.list([...ids]));
  const conversations = [...access.conversations].map(([recipient, { isOpen, readers }]): [string, Readers<UserId>] => [
    String(recipients.get(Number(recipient) as RecipientId)),
    { isOpen, readers: idsOf(readers) },
  ]);
  return { fullMembers: idsOf(access.fullMembers), conversations: new Map(conversations) };
}
