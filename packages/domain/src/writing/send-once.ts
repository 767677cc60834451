import type { Caller, MessageId, RealmId, UnixSeconds, UserId } from '../kernel/ids.js';
import type { Transaction } from '../kernel/unit-of-work.js';

/** Local id that a client assigned to a message, with the client's event queue. */
export interface Echo {
  readonly queueId: string;
  readonly localId: string;
}

/** First message sent with a given queue and local id. */
export interface FirstSend extends Echo {
  readonly realmId: RealmId;
  readonly userId: UserId;
  readonly messageId: MessageId;
  /** Digest of destination, topic and content as requested. */
  readonly digest: string;
  readonly sentAt: UnixSeconds;
}

/** Message with an id that the embedding application assigned, which is unique in the organization. */
export interface ExternalSend {
  readonly realmId: RealmId;
  readonly externalId: string;
  readonly messageId: MessageId;
  /** Digest of sender, destination, topic and content as requested; null if an earlier version sent the message. */
  readonly digest: string | null;
}

export const MAX_EXTERNAL_MESSAGE_ID_LENGTH = 200;

/** Time for which a send is remembered. */
export const SEND_MEMORY_SECONDS = 86_400;
/** Limit per sender. */
export const MAX_REMEMBERED_SENDS = 1000;
/** Maximum number of expired rows removed by one send. */
const MAX_REMOVED = 10;

/** Every implementation passes sent-once-repository.contract.ts. */
export interface SentOnceRepository {
  /** Returns null if the send belongs to another user or realm. */
  find(realmId: RealmId, userId: UserId, echo: Echo): Promise<FirstSend | null>;
  /** Returns the message that was sent with the id, even if it was deleted. */
  findExternal(realmId: RealmId, externalId: string): Promise<ExternalSend | null>;
  /** Replaces the send with the same queue and local id. Keeps the sender's latest `MAX_REMEMBERED_SENDS`. */
  put(send: FirstSend): Promise<void>;
  /** Keeps an existing message with the id. */
  putExternal(send: ExternalSend): Promise<void>;
  /** Removes at most `limit` sends of the realm that are older than `time`. */
  removeBefore(realmId: RealmId, time: UnixSeconds, limit: number): Promise<void>;
}

declare module '../kernel/feature-types.js' {
  interface RepositoryMap {
    sentOnce: [reads: Pick<SentOnceRepository, 'find' | 'findExternal'>, repository: SentOnceRepository];
  }
}

export const SENT_ONCE_FEATURE = {
  notExported: {
    sentOnce: 'Queues, which retries name, are not exported.',
  },
};

/**
 * Returns the message of an identical send, so that a client may retry a send after its response was lost (messages
 * §3).
 */
export async function findFirstSend(
  { sentOnce }: Pick<Transaction, 'sentOnce'>,
  { realmId, userId }: Caller,
  { echo, digest, now }: { readonly echo: Echo | null; readonly digest: string; readonly now: UnixSeconds },
): Promise<MessageId | null> {
  const first = echo && (await sentOnce.find(realmId, userId, echo));
  return first && first.digest === digest && first.sentAt > now - SEND_MEMORY_SECONDS ? first.messageId : null;
}

export async function rememberSend({ sentOnce }: Pick<Transaction, 'sentOnce'>, send: FirstSend): Promise<void> {
  await sentOnce.removeBefore(send.realmId, send.sentAt - SEND_MEMORY_SECONDS, MAX_REMOVED);
  await sentOnce.put(send);
}
