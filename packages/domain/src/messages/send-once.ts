import type { Caller, MessageId, RealmId, UnixSeconds, UserId } from '../kernel/ids.js';
import type { Transaction } from '../kernel/unit-of-work.js';

/** Local id that a client assigned to a message it sends, in an event queue of its own. */
export interface Echo {
  readonly queueId: string;
  readonly localId: string;
}

/** First message that was sent with a queue and a local id. */
export interface FirstSend extends Echo {
  readonly realmId: RealmId;
  readonly userId: UserId;
  readonly messageId: MessageId;
  /** Digest of destination, topic and content as requested. */
  readonly digest: string;
  readonly sentAt: UnixSeconds;
}

/** Duration for which a send is remembered. */
export const SEND_MEMORY_SECONDS = 86_400;
/** Per queue. */
export const MAX_REMEMBERED_SENDS = 1000;
/** Expired rows that a send removes at most. */
const MAX_REMOVED = 10;

/** Every implementation passes sent-once-repository.contract.ts. */
export interface SentOnceRepository {
  /** Returns null for other users and realms. */
  find(realmId: RealmId, userId: UserId, echo: Echo): Promise<FirstSend | null>;
  /** Replaces the send with the same queue and local id. Keeps the latest `MAX_REMEMBERED_SENDS` of the queue. */
  put(send: FirstSend): Promise<void>;
  /** Removes at most `limit` sends of the realm from before `time`. */
  removeBefore(realmId: RealmId, time: UnixSeconds, limit: number): Promise<void>;
}

declare module '../kernel/unit-of-work.js' {
  interface RepositoryMap {
    sentOnce: [reads: Pick<SentOnceRepository, 'find'>, repository: SentOnceRepository];
  }
}

export const SENT_ONCE_FEATURE = {
  notExported: {
    sentOnce: 'Queues, which retries name, are not exported.',
  },
};

/** Returns the message of an equal send, so that a client may retry a send whose response was lost (messages §3). */
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
