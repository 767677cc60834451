import type { RequestListener } from 'node:http';
import type { Clock } from '@parley/domain/kernel';
import { NotificationMeter, type PhoneSender } from '@parley/domain/push';
import {
  createExpressAdapter,
  ERROR_REPLIES,
  type Logger,
  type ProxyTrust,
  RateLimiter,
  type RateLimitRules,
  type RequestObserver,
  unknownPath,
  warn,
} from '@parley/http';
import { type DirectPush, type OutgoingProxy, phoneSenderOf, SealedBoxes } from '@parley/node-adapters';
import { PushServer } from './push-server.js';
import { pushServerRoutes, RemoteServerAuthenticator } from './push-server-routes.js';
import { SqlitePushServerStore } from './push-server-store.js';

export interface PushServiceOptions {
  readonly account: DirectPush;
  /** Path of the database file. */
  readonly path: string;
  readonly url: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly proxy: OutgoingProxy;
  readonly hasRateLimits: boolean;
  readonly rateLimitRules: RateLimitRules;
  readonly trustedProxies: ProxyTrust;
  readonly observers?: readonly RequestObserver[];
}

/** Notification counts by phone maker. */
const metered = (sender: PhoneSender, meter: NotificationMeter, clock: Clock): PhoneSender => ({
  async send(to, push) {
    const startedAt = clock.nowMs();
    const result = await sender.send(to, push);
    if (result.outcome === 'sent') meter.sent(to.kind, (clock.nowMs() - startedAt) / 1000);
    else if (result.outcome === 'unreached') meter.failed(to.kind);
    else meter.dropped(to.kind, 'refused');
    return result;
  },
});

const MIB = 1024 * 1024;
const DRAIN_MS = 5000;

/** Push service for other servers (organization §17), behind the same transport as the chat. */
export function createPushService(options: PushServiceOptions) {
  const { account, clock, logger, proxy, trustedProxies, observers = [] } = options;
  const store = new SqlitePushServerStore(options.path);
  const sender = phoneSenderOf(account, { clock, proxy, report: (message, fields) => warn(logger, fields, message) });
  const notifications = new NotificationMeter();
  const server = new PushServer(store, new SealedBoxes(account.keys), metered(sender, notifications, clock), clock);
  const adapter = createExpressAdapter({
    routes: pushServerRoutes(server),
    errorReplies: ERROR_REPLIES,
    // The routes of a push service have no use cases.
    resolve: () => {
      throw new Error('A push service has no use cases');
    },
    authenticators: [new RemoteServerAuthenticator(store)],
    publicUrl: options.url,
    realms: { findRealm: async () => null },
    roleLookup: { roleOf: async () => ({ role: 'member', isBot: false, synchronizesDrafts: false }) },
    limiter: new RateLimiter({ clock, isOn: options.hasRateLimits, rules: options.rateLimitRules }),
    logger,
    trustedProxies,
    limits: { bodyBytes: MIB },
    observers,
  });
  const { reply } = ERROR_REPLIES.replyTo(unknownPath());
  const handler: RequestListener = (request, response) =>
    adapter.router(request, response, () => {
      response.writeHead(reply.status, { 'Content-Type': 'application/json' });
      response.end(reply.body);
    });
  return {
    handler,
    notifications,
    adapter,
    /** Removes abandoned registrations; call once a day. */
    removeStale: () => server.removeStale(),
    async close(): Promise<void> {
      await adapter.drain(DRAIN_MS);
      store.close();
    },
  };
}
