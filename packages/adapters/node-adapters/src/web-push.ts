import { createECDH, ECDH, hkdfSync } from 'node:crypto';
import { type BlockList, isIPv4 } from 'node:net';
import { isParsableUrl, loadOptional, type RealmUrls } from '@parley/domain/kernel';
import type { WebhookClient } from '@parley/domain/membership';
import type { WebPushNotice, WebPushOutcome, WebPushService, WebPushSubscription } from '@parley/domain/push';
import type { Realm } from '@parley/domain/realms';
import { networks } from './networks.js';
import type { AvatarUrlOf } from './push-payloads.js';

export interface WebPushParts {
  /** Operator contact for push services: `mailto:` or `https:`. */
  readonly subject: string;
  /** Server secret from which the key pair is derived. */
  readonly secret: string;
  readonly client: WebhookClient;
  /** Networks of the operator, in which push services need no encryption. */
  readonly allowedNetworks: readonly string[];
  readonly realmUrls: RealmUrls;
  readonly avatarUrlOf: AvatarUrlOf;
}

/** Time that push services keep a notification for an offline browser. */
const TTL_SECONDS = 86_400;
/** Order of the curve P-256, the upper limit of private keys. */
const CURVE_ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
const PUBLIC_KEY_BYTES = 65;
const UNCOMPRESSED = 0x04;
/** In bytes; push services accept 4096 bytes including encryption. */
const MAX_CONTENT_BYTES = 1500;

/** Loads the library, which applications install only for web push. @throws MissingLibrary */
export const loadWebPush = () =>
  loadOptional('web-push', 'webPush', () => import('web-push').then((loaded) => loaded.default));

/** Web push with VAPID (RFC 8030, 8291, 8292). */
export class VapidWebPushService implements WebPushService {
  readonly publicKey: string;
  private readonly privateKey: string;

  private readonly networks: BlockList;

  constructor(private readonly parts: WebPushParts) {
    this.networks = networks(parts.allowedNetworks);
    const derived = Buffer.from(hkdfSync('sha256', parts.secret, '', 'web push key', 48)).toString('hex');
    const privateKey = (BigInt(`0x${derived}`) % (CURVE_ORDER - 1n)) + 1n;
    const pair = createECDH('prime256v1');
    pair.setPrivateKey(Buffer.from(privateKey.toString(16).padStart(64, '0'), 'hex'));
    this.publicKey = pair.getPublicKey().toString('base64url');
    this.privateKey = pair.getPrivateKey().toString('base64url').padStart(43, 'A');
  }

  isPublicKey(text: string): boolean {
    const bytes = Buffer.from(text, 'base64url');
    return bytes.length === PUBLIC_KEY_BYTES && bytes[0] === UNCOMPRESSED && isOnCurve(text);
  }

  isEndpoint(text: string): boolean {
    if (/\s/.test(text) || !isParsableUrl(text)) return false;
    const { protocol, hostname, username, password } = new URL(text);
    if (username !== '' || password !== '') return false;
    return protocol === 'https:' || (protocol === 'http:' && isIPv4(hostname) && this.networks.check(hostname));
  }

  async send(realm: Realm, subscription: WebPushSubscription, notice: WebPushNotice): Promise<WebPushOutcome> {
    const library = await loadWebPush();
    const { subject, client } = this.parts;
    const { endpoint, publicKey, authSecret } = subscription;
    if (!isOnCurve(publicKey)) return 'gone';
    const { headers, body } = library.generateRequestDetails(
      { endpoint, keys: { p256dh: publicKey, auth: authSecret } },
      JSON.stringify(this.payloadOf(realm, subscription, notice)),
      {
        vapidDetails: { subject, publicKey: this.publicKey, privateKey: this.privateKey },
        contentEncoding: 'aes128gcm',
        TTL: TTL_SECONDS,
        urgency: 'high',
      },
    );
    const response = await client.post(endpoint, {
      contentType: 'application/octet-stream',
      body: body as Buffer,
      headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
    });
    const { status } = response;
    if (status >= 200 && status < 300) return 'sent';
    if (status === 404 || status === 410) return 'gone';
    if (status === 429 || status >= 500) throw new Error(`The browser's push service returned ${status}`);
    return 'refused';
  }

  /** Message for the service worker; see docs/notifications.md. */
  private payloadOf(realm: Realm, { userId }: WebPushSubscription, notice: WebPushNotice): object {
    const url = this.parts.realmUrls.urlOf(realm);
    const common = { type: notice.type, realm_url: url, realm_name: realm.name, user_id: userId };
    if (notice.type === 'test') {
      return { ...common, time: notice.time, title: 'Test notification', body: `From ${realm.name} (${url})` };
    }
    const { message, conversation, sender } = notice.view;
    const { title, subtitle, content } = notice.text;
    const place =
      conversation.kind === 'channel'
        ? { channel_id: conversation.channelId, topic: message.topic }
        : { user_ids: conversation.participants.map(({ id }) => id).slice(0, 100) };
    return {
      ...common,
      title,
      body: notice.hidesContent ? 'New message' : [subtitle, cut(content)].filter(Boolean).join('\n'),
      icon: this.parts.avatarUrlOf(realm, notice.isSenderHidden ? null : sender),
      tag: `message-${message.id}`,
      message_id: message.id,
      time: message.sentAt,
      ...place,
    };
  }
}

/** Returns false for keys that cannot encrypt. Former releases stored some of them. */
function isOnCurve(publicKey: string): boolean {
  try {
    ECDH.convertKey(publicKey, 'prime256v1', 'base64url');
    return true;
  } catch {
    return false;
  }
}

function cut(text: string): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= MAX_CONTENT_BYTES) return text;
  return `${bytes
    .subarray(0, MAX_CONTENT_BYTES)
    .toString('utf8')
    .replace(/\uFFFD+$/, '')}…`;
}
