import type { NoticeTexts } from '../access/email.js';
import { DomainError } from '../kernel/errors.js';
import { type GroupId, isId, type MessageId, type RealmId, type UnixSeconds, type UserId } from '../kernel/ids.js';
import { encodeJob, type Job, type JobHandler, type JobWork, jobKind } from '../kernel/jobs.js';
import type { Clock } from '../kernel/ports.js';
import type { Repositories, Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import { getOrThrow } from '../kernel/work.js';
import type { RenderedMessages } from '../markdown/markdown.js';
import type { Viewer } from '../messages/message-condition.js';
import type { Realm } from '../realms/realm.js';
import { inaccessibleUserIds } from '../users/accessible-users.js';
import { DUE_REASONS, type DueReason } from './due.js';
import { notificationText, notificationWords, shownTopic } from './notification-text.js';
import type { DueMessage, NotificationChannel, NotificationMeter } from './notifications.js';
import {
  isActiveDevice,
  type MessageNotice,
  type PushDelivery,
  type PushNotice,
  type PushService,
  removeDevice,
  requirePushService,
} from './push.js';
import { retryingLater } from './push-jobs.js';
import { setPushStatus } from './push-status.js';

/** Time after which a notification is no longer worth sending. */
export const NOTIFICATION_SECONDS = 86_400;
/** Longer than three calls to the push service, including timeouts. */
const LEASE_SECONDS = 60;
/** Delay before retrying phones that were not reached while other phones of the user were. */
const RETRY_SECONDS = 5;
/** Maximum number of messages that one notification removes (organization §16). */
const MAX_REMOVED = 200;

/** Notification to one user's phones. */
interface PushJob {
  readonly userId: UserId;
  readonly since: UnixSeconds;
  readonly message: { readonly id: MessageId; readonly reason: DueReason; readonly groupId: GroupId | null } | null;
  /** Messages to remove from the phones; used if `message` is null. */
  readonly removed: readonly MessageId[];
  /** Ids of tokens not reached by an earlier attempt; absent for all tokens. */
  readonly only?: readonly string[];
}

/** Delays grow up to one hour, so the attempts span more than a day. */
const kindOf = (name: string) =>
  jobKind<PushJob>({
    name,
    readPayload: (stored) => {
      const { userId, since, message, removed, only } = stored as Partial<PushJob>;
      const isMessage = message === null || (isId(message?.id) && DUE_REASONS.includes(message.reason));
      const hasLists = Array.isArray(removed) && (only === undefined || Array.isArray(only));
      if (!isId(userId) || !Number.isSafeInteger(since) || !isMessage || !hasLists) {
        throw new TypeError('Job payload has no push notification');
      }
      return stored as PushJob;
    },
    leaseSeconds: LEASE_SECONDS,
    callsOthers: true,
    concurrency: 16,
    retries: { maxAttempts: 60, firstDelaySeconds: 5, maxDelaySeconds: 3600 },
  });

/** Encrypted and legacy notifications fail and are retried independently (organization §14.3). */
const ENCRYPTED = kindOf('push.send');
const LEGACY = kindOf('push.send_legacy');

/** Sends push notifications to phones (organization §14–16). */
export class MobilePush implements NotificationChannel {
  static readonly inject = ['clock'] as const;
  constructor(private readonly clock: Clock) {}

  async schedule(tx: Transaction, realmId: RealmId, { messageId, recipients }: DueMessage): Promise<void> {
    const due = new Map(recipients.flatMap((it) => (it.push === null ? [] : [[it.userId, it] as const])));
    if (due.size === 0) return;
    const reached = await ownersOf(tx, realmId, [...due.keys()]);
    const marked = await tx.notifications.addPushed(realmId, messageId, [...reached.any]);
    for (const userId of marked) {
      const { push, groupId } = getOrThrow(due, userId);
      const message = { id: messageId, reason: push!, groupId };
      await this.add(tx, realmId, { userId, since: this.clock.now(), message, removed: [] }, reached);
    }
  }

  async withdraw(tx: Transaction, realmId: RealmId, userId: UserId, ids: readonly MessageId[]): Promise<void> {
    const pushed = await tx.notifications.listPushed(realmId, userId, ids);
    if (pushed.length === 0) return;
    await tx.notifications.removePushed(realmId, userId, pushed);
    const removed = pushed.slice(0, MAX_REMOVED);
    const reached = await ownersOf(tx, realmId, [userId]);
    await this.add(tx, realmId, { userId, since: this.clock.now(), message: null, removed }, reached);
  }

  private async add(tx: Transaction, realmId: RealmId, payload: PushJob, reached: Owners): Promise<void> {
    const job = { realmId, dueAt: payload.since, payload };
    if (reached.encrypted.has(payload.userId)) await tx.jobs.schedule(encodeJob(ENCRYPTED, job));
    if (reached.legacy.has(payload.userId)) await tx.jobs.schedule(encodeJob(LEGACY, job));
  }
}

/** Users who have phones. */
interface Owners {
  readonly encrypted: ReadonlySet<UserId>;
  readonly legacy: ReadonlySet<UserId>;
  readonly any: ReadonlySet<UserId>;
}

async function ownersOf(tx: Transaction, realmId: RealmId, userIds: readonly UserId[]): Promise<Owners> {
  const encrypted = new Set(await tx.devices.filterOwners(realmId, userIds));
  const legacy = new Set(await tx.pushTokens.filterOwners(realmId, userIds));
  return { encrypted, legacy, any: new Set(userIds.filter((id) => encrypted.has(id) || legacy.has(id))) };
}

const nothing: JobWork = async () => {};

/** Sends one notification; encrypted and legacy notifications differ in their targets. */
abstract class SendPush implements JobHandler<PushJob> {
  abstract readonly kind: typeof ENCRYPTED;
  protected abstract readonly channel: 'push' | 'push_legacy';

  constructor(
    private readonly uow: UnitOfWork,
    protected readonly service: PushService | null,
    private readonly renderedMessages: RenderedMessages,
    private readonly texts: NoticeTexts,
    private readonly clock: Clock,
    private readonly meter: NotificationMeter,
  ) {}

  /** Returns null if the user no longer has targets. */
  protected abstract targetsOf(
    reads: Repositories,
    realmId: RealmId,
    job: Pick<PushJob, 'userId' | 'only'>,
  ): Promise<((service: PushService, realm: Realm, notice: PushNotice) => Promise<PushDelivery>) | null>;

  async prepare({ realmId, payload }: Job<PushJob>): Promise<JobWork> {
    const { userId, since } = payload;
    if (this.clock.now() - since > NOTIFICATION_SECONDS) {
      throw new DomainError('NOTIFICATION_EXPIRED', 'The notification is too old');
    }
    const found = await this.uow.read(realmId, async (reads) => {
      const send = await this.targetsOf(reads, realmId, payload);
      const realm = await reads.realms.get(realmId);
      const { message, removed } = payload;
      const notice = message
        ? send && (await loadMessageNotice(reads, this.renderedMessages, this.texts, { realmId, userId }, message))
        : ({ type: 'remove', messageIds: removed } as const);
      return { send, realm, notice };
    });
    const { send, realm, notice } = found;
    if (!send) return nothing;
    if (!notice) return (tx) => tx.notifications.removePushed(realmId, userId, [payload.message!.id]);
    const startedAt = this.clock.nowMs();
    const delivery = await this.meter.measure(this.channel, () =>
      retryingLater(() => send(requirePushService(this.service), realm, notice)),
    );
    this.meter.sent(this.channel, (this.clock.nowMs() - startedAt) / 1000);
    return async (tx) => {
      await finishDelivery(tx, { realm, userId }, delivery);
      const { unreached } = delivery;
      if (unreached.length === 0) return;
      const dueAt = (this.clock.now() + RETRY_SECONDS) as UnixSeconds;
      await tx.jobs.schedule(encodeJob(this.kind, { realmId, dueAt, payload: { ...payload, only: unreached } }));
    };
  }

  /** Runs after a rejection that would recur, or after a day of failures. */
  async giveUp(tx: Transaction, { realmId, payload }: Job<PushJob>, error: unknown): Promise<void> {
    const isRefused = error instanceof DomainError && error.code !== 'NOTIFICATION_EXPIRED';
    if (error instanceof DomainError && error.code === 'PUSH_NOT_ALLOWED') {
      await setPushStatus(tx, realmId, { isEnabled: false, endsAt: null });
    }
    this.meter.dropped(this.channel, isRefused ? 'refused' : 'expired');
    if (payload.message) await tx.notifications.removePushed(realmId, payload.userId, [payload.message.id]);
  }
}

/**
 * Returns null if the message was read or deleted, or is no longer due for this reason. Must run right before delivery,
 * since the message may have changed.
 */
export async function loadMessageNotice(
  reads: Repositories,
  renderedMessages: RenderedMessages,
  texts: NoticeTexts,
  { realmId, userId }: Viewer,
  { id, reason, groupId }: NonNullable<PushJob['message']>,
): Promise<MessageNotice | null> {
  const flags = (await reads.personal.listFlags({ realmId, userId }, [id])).get(id);
  if (!flags || flags.read || (reason === 'mentioned' && !flags.mentioned)) return null;
  const [view] = await reads.pages.listViews(realmId, [id]);
  const actor = (await reads.actors.list(realmId, [userId])).get(userId);
  if (!view || !actor) return null;
  const { sender } = view;
  const realm = await reads.realms.get(realmId);
  const isSenderHidden = (await inaccessibleUserIds(reads, actor, realm, [sender.id])).has(sender.id);
  const found = groupId && (await reads.groups.find(realmId, groupId));
  const group = found?.name ? { id: found.id, name: found.name } : null;
  const t = notificationWords(texts, await reads.users.get(realmId, userId));
  const senderName = isSenderHidden ? t('Unknown user') : sender.fullName;
  const groupName = group?.name ?? null;
  const text = notificationText(renderedMessages, { view, reason, groupName, senderName, t });
  const topic = view.conversation.kind === 'channel' ? shownTopic(view.message.topic, t) : '';
  return { type: 'message', view, isSenderHidden, senderName, group, text, topic };
}

/** Removes devices and tokens that are gone, and stores the status reported by the push service. */
async function finishDelivery(
  tx: Transaction,
  { realm, userId }: { readonly realm: Realm; readonly userId: UserId },
  { goneTokenIds, goneTokens, status }: PushDelivery,
): Promise<void> {
  if (goneTokenIds.length > 0) {
    for (const device of await tx.devices.list(realm.id, userId)) {
      if (device.tokenId !== null && goneTokenIds.includes(device.tokenId)) await removeDevice(tx, device);
    }
  }
  for (const token of goneTokens) await tx.pushTokens.remove(realm.id, userId, token);
  if (status) await setPushStatus(tx, realm.id, status);
}

/** Sends encrypted notifications to registered devices. */
export class SendEncryptedPush extends SendPush {
  static readonly inject = [
    'unitOfWork',
    'pushService',
    'renderedMessages',
    'noticeTexts',
    'clock',
    'notificationMeter',
  ] as const;
  readonly kind = ENCRYPTED;
  protected readonly channel = 'push';

  protected async targetsOf(reads: Repositories, realmId: RealmId, { userId, only }: Pick<PushJob, 'userId' | 'only'>) {
    const devices = (await reads.devices.list(realmId, userId))
      .filter(isActiveDevice)
      .filter(({ tokenId }) => only?.includes(tokenId) ?? true);
    if (devices.length === 0) return null;
    return (service: PushService, realm: Realm, notice: PushNotice) =>
      service.sendEncrypted({ realm, userId }, devices, notice);
  }
}

/** Sends notifications to the tokens of older apps. */
export class SendLegacyPush extends SendPush {
  static readonly inject = [
    'unitOfWork',
    'pushService',
    'renderedMessages',
    'noticeTexts',
    'clock',
    'notificationMeter',
  ] as const;
  readonly kind = LEGACY;
  protected readonly channel = 'push_legacy';

  protected async targetsOf(reads: Repositories, realmId: RealmId, { userId, only }: Pick<PushJob, 'userId' | 'only'>) {
    const all = await reads.pushTokens.list(realmId, userId);
    const tokens = all.filter(({ token }) => !only || only.includes(requirePushService(this.service).tokenIdOf(token)));
    if (tokens.length === 0) return null;
    return (service: PushService, realm: Realm, notice: PushNotice) =>
      service.sendLegacy({ realm, userId }, tokens, notice);
  }
}
