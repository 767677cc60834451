import type { MessageId, RealmId, UserId } from '../kernel/ids.js';
import { encodeJob, idPayload, jobKind } from '../kernel/jobs.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import type { Message } from '../messages/message.js';
import type { User } from '../users/user.js';

/** Reason for sending a message to an outgoing webhook (organization §19). */
export type BotTrigger = 'mention' | 'directMessage';

/** Message waiting for delivery to a bot's URL. */
export interface TriggeredBot {
  readonly botId: UserId;
  readonly messageId: MessageId;
  readonly trigger: BotTrigger;
}

/** Limit per bot. Further messages are dropped, which happens only if the receiver is down for long. */
export const MAX_WAITING_TRIGGERS = 1000;

export interface BotTriggerReads {
  /** Returns the oldest message waiting for the bot, or null. */
  findFirst(realmId: RealmId, botId: UserId): Promise<TriggeredBot | null>;
  count(realmId: RealmId, botId: UserId): Promise<number>;
}

/** Every implementation passes bot-trigger-repository.contract.ts. */
export interface BotTriggerRepository extends BotTriggerReads {
  /** Does nothing if the message is already waiting for the bot. */
  add(realmId: RealmId, trigger: TriggeredBot): Promise<void>;
  /** Does nothing if the message is not waiting. */
  remove(realmId: RealmId, botId: UserId, messageId: MessageId): Promise<void>;
}

declare module '../kernel/feature-types.js' {
  interface RepositoryMap {
    botTriggers: [reads: BotTriggerReads, repository: BotTriggerRepository];
  }
}

/** Longer than the maximum duration of a request to the receiver. */
const LEASE_SECONDS = 30;
/** High enough that unreachable receivers do not delay others; each bot has at most one request at a time. */
const CONCURRENCY = 20;

/** Delivers the oldest waiting message of a bot, and is rescheduled until none is waiting. */
export const WEBHOOK_JOB = jobKind<{ readonly botId: UserId }>({
  name: 'bots.deliver_webhook',
  readPayload: idPayload('botId'),
  leaseSeconds: LEASE_SECONDS,
  callsOthers: true,
  concurrency: CONCURRENCY,
  // The contract's three retries (organization §19).
  retries: { maxAttempts: 4, firstDelaySeconds: 5, maxDelaySeconds: 60 },
});

const keyOf = (botId: UserId) => `bot ${botId}`;

/** Schedules the delivery of the bot's oldest message unless it is already scheduled or running. */
export async function scheduleWebhook(
  tx: Transaction,
  realmId: RealmId,
  botId: UserId,
  dueAt: Message['sentAt'],
): Promise<void> {
  if (await tx.jobs.isScheduled(realmId, WEBHOOK_JOB.name, keyOf(botId))) return;
  await tx.jobs.schedule(encodeJob(WEBHOOK_JOB, { realmId, dueAt, key: keyOf(botId), payload: { botId } }));
}

/**
 * Queues a new message from a human for outgoing webhooks that are mentioned in it or take part in its conversation.
 */
export async function triggerBots(
  tx: Transaction,
  { id: messageId, realmId, sentAt }: Message,
  candidates: readonly User[],
  trigger: BotTrigger,
): Promise<void> {
  for (const { id: botId, bot, isActive } of candidates) {
    if (bot?.kind !== 'outgoingWebhook' || !isActive) continue;
    if ((await tx.botTriggers.count(realmId, botId)) >= MAX_WAITING_TRIGGERS) continue;
    await tx.botTriggers.add(realmId, { botId, messageId, trigger });
    await scheduleWebhook(tx, realmId, botId, sentAt);
  }
}
