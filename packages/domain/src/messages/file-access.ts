import type { Actor } from '../access/actor.js';
import { type AttachedFile, HIDDEN } from '../files/files.js';
import type { TokenScope } from '../kernel/ids.js';
import type { Repositories, Transaction } from '../kernel/unit-of-work.js';
import { loadMessages } from './load-access.js';
import { canReadMessage } from './message-permissions.js';
import { filterWithin } from './token-scope.js';

type Reads = Pick<Repositories | Transaction, 'channels' | 'personal' | 'messages' | 'recipients' | 'pages'>;

const MESSAGES_AT_A_TIME = 100;

/**
 * True if the actor owns the file or may read a message that refers to it (messages §16.2). Evaluated on each call,
 * so changes to messages take effect immediately. A scope admits only messages of its conversations, and own files that
 * no message refers to.
 */
export async function canReadFile(
  reads: Reads,
  actor: Actor,
  file: AttachedFile,
  scope?: TokenScope,
): Promise<boolean> {
  if (file.ownerId === actor.id && (!scope || file.messageIds.length === 0)) return true;
  // Restored messages refer to it again.
  if (file.ownerId === HIDDEN) return false;
  const viewer = { realmId: actor.realmId, userId: actor.id };
  const within = scope && (await filterWithin(reads, viewer, scope, file.messageIds));
  const messageIds = within ? file.messageIds.filter((id) => within.has(id)) : file.messageIds;
  // Newest messages first, since they are most likely to be readable.
  for (let end = messageIds.length; end > 0; end -= MESSAGES_AT_A_TIME) {
    const messages = await loadMessages(reads, actor, messageIds.slice(Math.max(0, end - MESSAGES_AT_A_TIME), end));
    if (messages.some((message) => canReadMessage(actor, message).allowed)) return true;
  }
  return false;
}
