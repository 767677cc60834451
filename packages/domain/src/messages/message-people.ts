import type { UserId } from '../kernel/ids.js';
import type { Repositories, Transaction } from '../kernel/unit-of-work.js';
import type { User } from '../users/user.js';
import type { Message } from './message.js';

type Reads = Repositories | Transaction;

/** Users are never deleted, so that there always is one; bots of the system are found as well. */
export async function loadSender(
  { users }: Pick<Reads, 'users'>,
  { realmId, senderId }: Pick<Message, 'realmId' | 'senderId'>,
): Promise<User> {
  // People are mostly in memory.
  const person = await users.find(realmId, senderId);
  return person ?? (await users.list(realmId, [senderId]))[0]!;
}

/** Everybody in the direct conversation that the message is part of, ascending; null: it is in a channel. */
export async function participantIdsOf(
  { recipients }: Pick<Reads, 'recipients'>,
  { realmId, recipientId }: Pick<Message, 'realmId' | 'recipientId'>,
): Promise<readonly UserId[] | null> {
  const recipient = (await recipients.list(realmId, [recipientId])).get(recipientId);
  return recipient?.kind === 'direct' ? recipient.userIds : null;
}
