import { FEATURE_LEVEL, ZULIP_VERSION } from '@parley/http';
import {
  HttpPushService,
  type OutgoingProxy,
  type PushServiceAccount,
  phoneSenderOf,
  SystemClock,
} from '@parley/node-adapters';
import type { Configuration } from '../configuration/configuration.js';

/** Describes how notifications reach phones. */
export function wayToPhones(push: Configuration['push']): string {
  if (!push) return 'none';
  if (!('keys' in push)) return `push service ${push.url}`;
  return ['direct', push.apns && 'APNs', push.fcm && 'FCM'].filter(Boolean).join(', ');
}

/** Dummy tokens, so that only the accounts are checked. */
const NO_PHONES = [
  { kind: 'apns', token: '00'.repeat(32), iosAppId: 'none' },
  { kind: 'fcm', token: 'none', iosAppId: null },
] as const;

/** @throws Error if the configured services reject this server */
export async function checkPush(push: NonNullable<Configuration['push']>, proxy: OutgoingProxy): Promise<void> {
  const clock = new SystemClock();
  if (!('keys' in push)) {
    await pushServiceOf(push, proxy).askAbout([]);
    return;
  }
  const sender = phoneSenderOf(push, { clock, proxy, report: () => {} });
  for (const phone of NO_PHONES.filter(({ kind }) => push[kind])) {
    const { outcome, reason } = await sender.send(phone, { payload: {}, isUrgent: false, isSilent: true });
    if (outcome === 'unreached') throw new Error(reason);
  }
}

/** Client of a push service for an unspecified organization. */
export function pushServiceOf(account: PushServiceAccount, proxy: OutgoingProxy): HttpPushService {
  const realmUrls = { urlOf: () => '', emailDomainOf: () => '' };
  const server = { version: ZULIP_VERSION, featureLevel: FEATURE_LEVEL };
  return new HttpPushService({ account, clock: new SystemClock(), realmUrls, server, proxy, avatarUrlOf: () => '' });
}
