import { createPrivateKey, type KeyObject } from 'node:crypto';
import {
  APNS_URL,
  type DirectPush,
  FCM_URL,
  type FcmAccount,
  isPushKey,
  type PushServiceAccount,
} from '@parley/node-adapters';
import { UsageError } from '../kernel/startup-error.js';
import { format, fromText, listOf, unconverted, valueType } from '../kernel/values.js';
import { type Setting, secretSetting, setting } from './setting.js';
import { parseContact, parseUrl, parseWord } from './setting-values.js';

const MAX_KEYS = 10;

const PUSH_KEY = valueType<string>(
  'a key as `parley push key` prints it',
  (value) => typeof value === 'string' && isPushKey(value),
);
export const PUSH_KEYS = unconverted<readonly string[]>(
  fromText(listOf(PUSH_KEY, { max: MAX_KEYS }), (text) => text.split(',').map((key) => key.trim())),
);

/** Environment files hold a key in one line, with `\\n` for line breaks. */
export function parseApnsKey(text: string): string {
  const pem = text.replaceAll('\\n', '\n');
  if (privateKeyOf(pem)?.asymmetricKeyDetails?.namedCurve !== 'prime256v1') {
    throw new Error('the content of a .p8 file from Apple');
  }
  return pem;
}

export function parseFcmCredentials(text: string): FcmAccount {
  try {
    const { project_id: projectId, client_email: clientEmail, private_key: privateKey, token_uri } = JSON.parse(text);
    const tokenUrl = parseUrl(token_uri);
    if (/^[\w:.-]{1,100}$/.test(projectId) && typeof clientEmail === 'string' && isRsaKey(privateKey)) {
      return { projectId, clientEmail, privateKey, tokenUrl, url: FCM_URL };
    }
  } catch {
    // The error above this one explains the problem without the secret.
  }
  throw new Error('the content of the JSON key file of a Google service account');
}

const isRsaKey = (pem: unknown): boolean => typeof pem === 'string' && privateKeyOf(pem)?.asymmetricKeyType === 'rsa';

function privateKeyOf(pem: string): KeyObject | null {
  try {
    return createPrivateKey(pem);
  } catch {
    return null;
  }
}

/** Settings for mobile and browser push. */
export const PUSH_SETTINGS = {
  pushService: setting(
    'PARLEY_PUSH_SERVICE',
    'push-service-url',
    'URL',
    'push service that delivers notifications to phones; default: none',
    format(parseUrl),
    null as string | null,
  ),
  pushOrgId: setting(
    'PARLEY_PUSH_ORG_ID',
    'push-org-id',
    'ID',
    'id of this server at the push service',
    format(parseWord),
    null as string | null,
  ),
  pushOrgKey: secretSetting(
    'PARLEY_PUSH_ORG_KEY',
    'key of this server at the push service',
    format(parseWord),
    null as string | null,
  ),
  webPush: setting(
    'PARLEY_WEB_PUSH',
    'web-push',
    'CONTACT',
    'sends push notifications to browsers; contact for their push services, such as mailto:ops@example.com; default: off',
    format(parseContact),
    null as string | null,
  ),
  pushKeys: secretSetting(
    'PARLEY_PUSH_KEYS',
    'private keys for the tokens of your own build of the app, from parley push key; several during a rotation',
    PUSH_KEYS,
    null as readonly string[] | null,
  ),
  apnsKey: secretSetting(
    'PARLEY_APNS_KEY',
    'APNs key of your Apple developer account (.p8)',
    format(parseApnsKey),
    null as string | null,
  ),
  apnsKeyId: setting(
    'PARLEY_APNS_KEY_ID',
    'apns-key-id',
    'ID',
    'id of that key',
    format(parseWord),
    null as string | null,
  ),
  apnsTeamId: setting(
    'PARLEY_APNS_TEAM_ID',
    'apns-team-id',
    'ID',
    'id of your Apple developer team',
    format(parseWord),
    null as string | null,
  ),
  apnsUrl: setting(
    'PARLEY_APNS_URL',
    'apns-url',
    'URL',
    'APNs server; for development builds https://api.sandbox.push.apple.com',
    format(parseUrl),
    APNS_URL,
  ),
  fcmCredentials: secretSetting(
    'PARLEY_FCM_CREDENTIALS',
    'Google service account for Firebase Cloud Messaging (JSON)',
    format(parseFcmCredentials),
    null as FcmAccount | null,
  ),
  fcmUrl: setting('PARLEY_FCM_URL', 'fcm-url', 'URL', 'FCM server, such as one for tests', format(parseUrl), FCM_URL),
} satisfies Record<string, Setting<unknown>>;

export type PushSettings = { readonly [Name in keyof typeof PUSH_SETTINGS]: (typeof PUSH_SETTINGS)[Name]['default'] };

/** Returns the one configured way to reach phones. @throws UsageError for more than one */
export function pushOf(settings: PushSettings): PushServiceAccount | DirectPush | null {
  const service = pushAccountOf(settings);
  const direct = directPushOf(settings);
  if (service && direct) {
    throw new UsageError('PARLEY_PUSH_SERVICE cannot be combined with PARLEY_PUSH_KEYS: choose one delivery method.');
  }
  return service ?? direct;
}

/** Requires all of these values or none. */
function pushAccountOf({ pushService: url, pushOrgId: orgId, pushOrgKey: orgKey }: PushSettings) {
  if (url === null && orgId === null && orgKey === null) return null;
  if (url !== null && orgId !== null && orgKey !== null) return { url, orgId, orgKey };
  throw new UsageError('A push service needs PARLEY_PUSH_SERVICE, PARLEY_PUSH_ORG_ID and PARLEY_PUSH_ORG_KEY.');
}

function directPushOf(settings: PushSettings): DirectPush | null {
  const { pushKeys: keys, apnsKey: key, apnsKeyId: keyId, apnsTeamId: teamId, apnsUrl: url } = settings;
  const fcm = settings.fcmCredentials && { ...settings.fcmCredentials, url: settings.fcmUrl };
  const hasApns = key !== null || keyId !== null || teamId !== null;
  if (hasApns && (key === null || keyId === null || teamId === null)) {
    throw new UsageError('APNs needs PARLEY_APNS_KEY, PARLEY_APNS_KEY_ID and PARLEY_APNS_TEAM_ID.');
  }
  if (!hasApns && fcm === null && keys === null) return null;
  if (keys === null || !(hasApns || fcm)) {
    throw new UsageError(
      'Delivery to phones needs PARLEY_PUSH_KEYS, and APNs (PARLEY_APNS_KEY) or PARLEY_FCM_CREDENTIALS.',
    );
  }
  return { keys, apns: hasApns ? { key: key!, keyId: keyId!, teamId: teamId!, url } : null, fcm };
}
