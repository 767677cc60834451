import { MissedEmails, MobilePush, type PushService, WebPush } from '@parley/domain/push';
import { FEATURE_LEVEL, senderAvatarUrl, ZULIP_VERSION } from '@parley/http';
import {
  type AvatarUrlOf,
  type DirectPush,
  DirectPushService,
  HttpPushService,
  type PushServiceAccount,
  VapidWebPushService,
} from '@parley/node-adapters';
import { Adapter, type Parts } from '../adapter.js';
import type { MailOptions } from './mail.js';
import type { WebOptions } from './web.js';

export interface PushOptions
  extends Pick<MailOptions, 'notifications' | 'sendsMail'>,
    Pick<WebOptions, 'webhookNetworks'> {
  /** Service that delivers mobile push notifications, or an account there; null for none. */
  readonly push: PushServiceAccount | DirectPush | PushService | null;
  /** Contact (`mailto:` or `https:`) that enables web push; null for none. */
  readonly webPush?: string | null;
  /** False if no host application receives events; default: true. */
  readonly hasHost?: boolean;
}

/** Notifications of phones and browsers. */
export const push = (options: PushOptions) =>
  new Adapter({
    pushService: (parts) => pushServiceOf(options, parts),
    webPushService: ({ get }) =>
      options.webPush
        ? new VapidWebPushService({
            subject: options.webPush,
            secret: get('secret'),
            client: get('webhookClient'),
            allowedNetworks: options.webhookNetworks ?? [],
            realmUrls: get('realmUrls'),
            avatarUrlOf: avatarUrls(get),
          })
        : null,
    notificationTargets: ({ resolve }) => {
      const {
        notifications: { push: sendsPush = true, email = true } = {},
        sendsMail = true,
        hasHost = true,
      } = options;
      const channels = [
        ...(sendsPush && options.push ? [resolve(MobilePush)] : []),
        ...(sendsPush && options.webPush ? [resolve(WebPush)] : []),
        // Emails become files for the operator if there is no mail server; missed messages would fill the folder.
        ...(email && sendsMail ? [resolve(MissedEmails)] : []),
      ];
      return { channels, hasHost };
    },
  });

function pushServiceOf({ push: account }: PushOptions, { get }: Parts): PushService | null {
  if (!account || 'sendLegacy' in account) return account;
  const parts = {
    realmUrls: get('realmUrls'),
    clock: get('clock'),
    avatarUrlOf: avatarUrls(get),
    proxy: get('outgoingProxy'),
  };
  if ('keys' in account) return new DirectPushService({ ...parts, account, report: get('report') });
  const server = { version: ZULIP_VERSION, featureLevel: FEATURE_LEVEL };
  return new HttpPushService({ ...parts, account, server });
}

function avatarUrls(get: Parts['get']): AvatarUrlOf {
  const realmUrls = get('realmUrls');
  return (realm, sender) => senderAvatarUrl(realm, sender, realmUrls);
}
