import { mustBeHuman } from '../access/actor.js';
import type { NoticeTexts } from '../access/email.js';
import { DomainError, declareErrors } from '../kernel/errors.js';
import {
  type Caller,
  type GroupId,
  isId,
  type MessageId,
  type RealmId,
  type SessionId,
  type UnixSeconds,
  type UserId,
} from '../kernel/ids.js';
import { encodeJob, type Job, type JobHandler, type JobWork, jobKind } from '../kernel/jobs.js';
import { enforce } from '../kernel/permission.js';
import type { Clock } from '../kernel/ports.js';
import { decodeBase64 } from '../kernel/text.js';
import type { Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import { getOrThrow } from '../kernel/work.js';
import type { RenderedMessages } from '../markdown/markdown.js';
import type { Realm } from '../realms/realm.js';
import { DUE_REASONS, type DueReason } from './due.js';
import { loadMessageNotice, NOTIFICATION_SECONDS } from './mobile-push.js';
import type { DueMessage, NotificationChannel, NotificationMeter } from './notifications.js';
import type { MessageNotice } from './push.js';

export const WEB_PUSH_ERRORS = declareErrors({
  /** Web push is not configured. */
  WEB_PUSH_NOT_CONFIGURED: 'unavailable',
  /** The endpoint is not an `https` URL without credentials, or a key has the wrong length. */
  INVALID_WEB_PUSH_SUBSCRIPTION: 'invalid',
  /** The caller has no subscription with this endpoint. */
  UNKNOWN_WEB_PUSH_SUBSCRIPTION: 'unknown',
});

type WebPushErrors = typeof WEB_PUSH_ERRORS;

/** Browser that receives notifications (RFC 8030, RFC 8291). */
export interface WebPushSubscription {
  readonly id: number;
  readonly realmId: RealmId;
  readonly userId: UserId;
  /** Session that created the subscription and ends it; null if created with an API key. */
  readonly sessionId: SessionId | null;
  /** URL at the push service of the browser's vendor. */
  readonly endpoint: string;
  /** Public key of the browser, in URL-safe Base64. */
  readonly publicKey: string;
  /** Shared secret of the browser, in URL-safe Base64. */
  readonly authSecret: string;
}

/** Limit per user; a new subscription replaces the oldest one. */
export const MAX_WEB_PUSH_SUBSCRIPTIONS = 20;
const AUTH_SECRET_BYTES = 16;

export interface WebPushReads {
  /** Returns subscriptions by ascending id, except those of ended sessions. */
  list(realmId: RealmId, userIds: readonly UserId[]): Promise<readonly WebPushSubscription[]>;
}

/** Every implementation passes web-push-repository.contract.ts. */
export interface WebPushRepository extends WebPushReads {
  /** Replaces the user's subscription with this endpoint. */
  put(subscription: Omit<WebPushSubscription, 'id'>): Promise<void>;
  /** Returns true if the user had such a subscription. */
  remove(realmId: RealmId, userId: UserId, endpoint: string): Promise<boolean>;
}

declare module '../kernel/feature-types.js' {
  interface ErrorCodes extends WebPushErrors {}
  interface RepositoryMap {
    webPush: [reads: WebPushReads, repository: WebPushRepository];
  }
}

export const WEB_PUSH_FEATURE = {
  notExported: { webPush: 'Browsers subscribe anew.' },
};

/** Result of an attempt. `gone`: the browser no longer receives notifications; `refused`: retrying would also fail. */
export type WebPushOutcome = 'sent' | 'gone' | 'refused';

/** Sends notifications to browsers. Calls other servers, so it must be used outside units of work. */
export interface WebPushService {
  /** Public key of this server for `PushManager.subscribe`, in URL-safe Base64. */
  readonly publicKey: string;
  /** True for a browser's public key, an uncompressed point on the curve P-256 in URL-safe Base64. */
  isPublicKey(text: string): boolean;
  /** True for an `https` URL without credentials. `http` is permitted for addresses in networks of the operator. */
  isEndpoint(text: string): boolean;
  /** @throws Error if the attempt should be retried */
  send(realm: Realm, subscription: WebPushSubscription, notice: WebPushNotice): Promise<WebPushOutcome>;
}

export type WebPushNotice =
  | (MessageNotice & { readonly hidesContent: boolean })
  | { readonly type: 'test'; readonly time: UnixSeconds };

function requireWebPush(service: WebPushService | null): WebPushService {
  if (service) return service;
  throw new DomainError('WEB_PUSH_NOT_CONFIGURED', 'Server is not configured to send web push notifications.');
}

/** Returns the server's key and the endpoints of the caller's subscriptions. */
export class ListWebPushSubscriptions {
  static readonly inject = ['unitOfWork', 'webPushService'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly service: WebPushService | null,
  ) {}

  async execute({ realmId, userId }: Caller) {
    const subscriptions = await this.uow.read(realmId, ({ webPush }) => webPush.list(realmId, [userId]));
    return {
      publicKey: this.service?.publicKey ?? null,
      endpoints: subscriptions.map(({ endpoint }) => endpoint),
    };
  }
}

/** Subscribes a browser until its session ends. */
export class AddWebPushSubscription {
  static readonly inject = ['unitOfWork', 'webPushService'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly service: WebPushService | null,
  ) {}

  /** @throws DomainError MUST_NOT_BE_BOT, WEB_PUSH_NOT_CONFIGURED, INVALID_WEB_PUSH_SUBSCRIPTION */
  execute(caller: Caller, input: Pick<WebPushSubscription, 'endpoint' | 'publicKey' | 'authSecret'>): Promise<void> {
    return this.uow.write(caller.realmId, async (tx) => {
      const { id: userId, realmId, isBot } = await tx.actors.get(caller);
      enforce(mustBeHuman({ isBot }));
      requireSubscription(requireWebPush(this.service), input);
      const others = (await tx.webPush.list(realmId, [userId])).filter(({ endpoint }) => endpoint !== input.endpoint);
      const [oldest] = others;
      if (oldest && others.length >= MAX_WEB_PUSH_SUBSCRIPTIONS) {
        await tx.webPush.remove(realmId, userId, oldest.endpoint);
      }
      await tx.webPush.put({ realmId, userId, sessionId: caller.sessionId ?? null, ...input });
    });
  }
}

function requireSubscription(
  service: WebPushService,
  { endpoint, publicKey, authSecret }: Pick<WebPushSubscription, 'endpoint' | 'publicKey' | 'authSecret'>,
): void {
  const isSecret = fromUrlSafe(authSecret)?.length === AUTH_SECRET_BYTES;
  if (service.isPublicKey(publicKey) && isSecret && service.isEndpoint(endpoint)) return;
  throw new DomainError('INVALID_WEB_PUSH_SUBSCRIPTION', 'Invalid web push subscription');
}

function fromUrlSafe(text: string): readonly number[] | null {
  const base64 = text.replaceAll('-', '+').replaceAll('_', '/').replace(/=+$/, '');
  return decodeBase64(base64 + '='.repeat((4 - (base64.length % 4)) % 4));
}

/** Ends one of the caller's subscriptions. */
export class RemoveWebPushSubscription {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError UNKNOWN_WEB_PUSH_SUBSCRIPTION */
  execute({ realmId, userId }: Caller, { endpoint }: { readonly endpoint: string }): Promise<void> {
    return this.uow.write(realmId, async (tx) => {
      if (await tx.webPush.remove(realmId, userId, endpoint)) return;
      throw new DomainError('UNKNOWN_WEB_PUSH_SUBSCRIPTION', 'Subscription does not exist');
    });
  }
}

/** Notification to one browser. */
interface WebPushJob {
  readonly userId: UserId;
  readonly subscriptionId: number;
  readonly since: UnixSeconds;
  readonly message: { readonly id: MessageId; readonly reason: DueReason; readonly groupId: GroupId | null };
}

const WEB_PUSH = jobKind<WebPushJob>({
  name: 'push.send_web',
  readPayload: (stored) => {
    const { userId, subscriptionId, since, message } = stored as Partial<WebPushJob>;
    const isMessage = isId(message?.id) && DUE_REASONS.includes(message.reason);
    if (!isId(userId) || !isId(subscriptionId) || !Number.isSafeInteger(since) || !isMessage) {
      throw new TypeError('Job payload has no web push notification');
    }
    return stored as WebPushJob;
  },
  leaseSeconds: 60,
  callsOthers: true,
  concurrency: 16,
  retries: { maxAttempts: 60, firstDelaySeconds: 5, maxDelaySeconds: 3600 },
});

/** Sends notifications to subscribed browsers. */
export class WebPush implements NotificationChannel {
  static readonly inject = ['clock'] as const;
  constructor(private readonly clock: Clock) {}

  async schedule(tx: Transaction, realmId: RealmId, { messageId, recipients }: DueMessage): Promise<void> {
    const due = new Map(recipients.flatMap((it) => (it.push === null ? [] : [[it.userId, it] as const])));
    if (due.size === 0) return;
    const since = this.clock.now();
    for (const { id: subscriptionId, userId } of await tx.webPush.list(realmId, [...due.keys()])) {
      const { push, groupId } = getOrThrow(due, userId);
      const payload = { userId, subscriptionId, since, message: { id: messageId, reason: push!, groupId } };
      await tx.jobs.schedule(encodeJob(WEB_PUSH, { realmId, dueAt: since, payload }));
    }
  }

  /**
   * Does nothing: service workers close notifications of read messages, since browsers require every push to show a
   * notification.
   */
  async withdraw(): Promise<void> {}
}

/** Sends one notification to one browser. */
export class SendWebPush implements JobHandler<WebPushJob> {
  static readonly inject = [
    'unitOfWork',
    'webPushService',
    'renderedMessages',
    'noticeTexts',
    'clock',
    'notificationMeter',
  ] as const;
  readonly kind = WEB_PUSH;

  constructor(
    private readonly uow: UnitOfWork,
    private readonly service: WebPushService | null,
    private readonly renderedMessages: RenderedMessages,
    private readonly texts: NoticeTexts,
    private readonly clock: Clock,
    private readonly meter: NotificationMeter,
  ) {}

  async prepare({ realmId, payload }: Job<WebPushJob>): Promise<JobWork> {
    const { userId, subscriptionId, since, message } = payload;
    if (this.clock.now() - since > NOTIFICATION_SECONDS) {
      throw new DomainError('NOTIFICATION_EXPIRED', 'The notification is too old');
    }
    const { subscription, realm, notice, user } = await this.uow.read(realmId, async (reads) => ({
      subscription: (await reads.webPush.list(realmId, [userId])).find(({ id }) => id === subscriptionId),
      realm: await reads.realms.get(realmId),
      user: await reads.users.find(realmId, userId),
      notice: await loadMessageNotice(reads, this.renderedMessages, this.texts, { realmId, userId }, message),
    }));
    if (!subscription || !notice || !user) return async () => {};
    const isDirect = notice.view.conversation.kind === 'direct';
    const hidesContent = isDirect && !user.settings.pmContentInDesktopNotifications;
    const startedAt = this.clock.nowMs();
    const outcome = await this.meter.measure('web_push', () =>
      requireWebPush(this.service).send(realm, subscription, { ...notice, hidesContent }),
    );
    if (outcome === 'sent') this.meter.sent('web_push', (this.clock.nowMs() - startedAt) / 1000);
    else this.meter.dropped('web_push', 'refused');
    return async (tx) => {
      if (outcome === 'gone') await tx.webPush.remove(realmId, userId, subscription.endpoint);
    };
  }

  async giveUp(): Promise<void> {
    this.meter.dropped('web_push', 'expired');
  }
}
