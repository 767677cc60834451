import { createHash, createHmac, randomBytes } from 'node:crypto';
import { xsalsa20poly1305 } from '@noble/ciphers/salsa.js';
import { type AddressedRealm, type Clock, DomainError, type RealmUrls } from '@parley/domain/kernel';
import type {
  ActiveDevice,
  PendingRegistration,
  PushDelivery,
  PushNotice,
  PushRecipient,
  PushService,
  PushStatus,
  PushToken,
  PushTokenKind,
  RegistrationError,
} from '@parley/domain/push';
import type { Realm } from '@parley/domain/realms';
import type { OutgoingProxy } from './outgoing-proxy.js';
import { type AvatarUrlOf, PushPayloads, pushRequest, type SealedPayload } from './push-payloads.js';
import { readShort } from './read-short.js';

/** Credentials for the push service. */
export interface PushServiceAccount {
  /** Base URL of the service without a trailing slash: `https://push.example.com`. */
  readonly url: string;
  readonly orgId: string;
  readonly orgKey: string;
}

/** Response timeout. */
const TIMEOUT_MS = 15_000;
/** Maximum response size; valid responses are short. */
const MAX_RESPONSE_BYTES = 1_000_000;

const TOKEN_KIND_NUMBERS = { apns: 1, fcm: 2 } as const;
const NONCE_BYTES = 24;

interface ServiceResponse {
  readonly status: number;
  readonly fields: Readonly<Record<string, unknown>>;
}

type Form = Readonly<Record<string, string>>;

/** API version of this server, sent to the service. */
export interface OfferedApi {
  readonly version: string;
  readonly featureLevel: number;
}

export interface PushServiceParts {
  readonly account: PushServiceAccount;
  readonly realmUrls: RealmUrls;
  readonly clock: Clock;
  readonly server: OfferedApi;
  readonly avatarUrlOf: AvatarUrlOf;
  readonly proxy: OutgoingProxy;
}

/** Push service client that uses the protocol of Zulip servers (organization §17). */
export class HttpPushService implements PushService {
  private readonly account: PushServiceAccount;
  private readonly authorization: string;
  private readonly payloads: PushPayloads;

  constructor(private readonly parts: PushServiceParts) {
    this.account = parts.account;
    const { orgId, orgKey } = this.account;
    this.authorization = `Basic ${Buffer.from(`${orgId}:${orgKey}`).toString('base64')}`;
    this.payloads = new PushPayloads(parts);
  }

  tokenIdOf(token: string): string {
    return tokenIdOf(token);
  }

  async registerEncrypted(realm: Realm, registration: PendingRegistration): Promise<RegistrationError | null> {
    const response = await this.askFor(realm, 'push/e2ee/register', {
      form: {
        realm_uuid: realm.uuid,
        token_id: registration.tokenId,
        encrypted_push_registration: registration.encrypted,
        bouncer_public_key: registration.publicKey,
      },
    });
    if (response.status === 200) return null;
    const error = registrationErrorOf(response);
    if (error) return error;
    throw denied();
  }

  async registerToken(to: PushRecipient, { kind, token, iosAppId }: PushToken): Promise<void> {
    const form = { ...this.formOf(to, { kind, token }), ...(iosAppId !== null && { ios_app_id: iosAppId }) };
    const response = await this.askFor(to.realm, 'push/register', { form });
    if (response.status !== 200) throw refused(response);
  }

  async unregisterToken(to: PushRecipient, token: Pick<PushToken, 'kind' | 'token'>): Promise<void> {
    const response = await this.askFor(to.realm, 'push/unregister', { form: this.formOf(to, token) });
    if (response.status !== 200 && response.fields.msg !== 'Token does not exist') throw refused(response);
  }

  async sendTest(to: PushRecipient, { kind, token }: PushToken): Promise<void> {
    const { realm, userId } = to;
    const url = this.parts.realmUrls.urlOf(realm);
    const response = await this.askFor(realm, 'push/test_notification', {
      json: {
        ...this.namesOf(to),
        token,
        token_kind: TOKEN_KIND_NUMBERS[kind],
        base_payload: {
          server: new URL(url).host,
          realm_id: realm.id,
          realm_name: realm.name,
          realm_uri: url,
          realm_url: url,
          user_id: userId,
        },
      },
    });
    if (response.status === 200) return;
    if (response.fields.code === 'INVALID_REMOTE_PUSH_DEVICE_TOKEN') {
      throw new DomainError('PUSH_TOKEN_UNKNOWN_TO_SERVICE', 'Device not recognized by the push bouncer');
    }
    throw refused(response);
  }

  async sendEncrypted(to: PushRecipient, devices: readonly ActiveDevice[], notice: PushNotice): Promise<PushDelivery> {
    const text = JSON.stringify(this.payloads.plaintext(to, notice));
    const response = await this.askFor(to.realm, 'push/e2ee/notify', {
      json: {
        realm_uuid: to.realm.uuid,
        push_requests: devices.map((device) => pushRequest(device, sealFor(device, text), notice.type === 'remove')),
      },
    });
    if (response.status !== 200) throw refusedDelivery(response);
    const { apple_successfully_sent_count: apple, android_successfully_sent_count: android } = response.fields;
    return {
      sent: Number(apple ?? 0) + Number(android ?? 0),
      goneTokenIds: stringsOf(response.fields.delete_token_ids),
      goneTokens: [],
      unreached: stringsOf(response.fields.retry_token_ids),
      status: statusOf(response.fields.realm_push_status),
    };
  }

  async sendLegacy(to: PushRecipient, tokens: readonly PushToken[], notice: PushNotice): Promise<PushDelivery> {
    const tokensOf = (kind: PushTokenKind) => tokens.filter((it) => it.kind === kind).map(({ token }) => token);
    const response = await this.askFor(to.realm, 'push/notify', {
      json: {
        ...this.namesOf(to),
        apns_payload: this.payloads.legacyApns(to, notice),
        gcm_payload: this.payloads.legacyFcm(to, notice),
        gcm_options: { priority: notice.type === 'remove' ? 'normal' : 'high' },
        android_devices: tokensOf('fcm'),
        apple_devices: tokensOf('apns'),
      },
    });
    if (response.status !== 200) throw refusedDelivery(response);
    const { total_android_devices, total_apple_devices, deleted_devices, realm } = response.fields;
    const { android_devices, apple_devices } = (deleted_devices ?? {}) as Readonly<Record<string, unknown>>;
    return {
      sent: Number(total_android_devices ?? 0) + Number(total_apple_devices ?? 0),
      goneTokenIds: [],
      goneTokens: [
        ...stringsOf(android_devices).map((token) => ({ kind: 'fcm', token }) as const),
        ...stringsOf(apple_devices).map((token) => ({ kind: 'apns', token }) as const),
      ],
      unreached: stringsOf(response.fields.retry_token_ids),
      status: statusOf(realm),
    };
  }

  async askAbout(realms: readonly Realm[]): Promise<ReadonlyMap<string, PushStatus>> {
    const response = await this.upload(realms);
    if (response.status !== 200) throw denied();
    const statuses = new Map<string, PushStatus>();
    for (const [uuid, stated] of Object.entries((response.fields.realms ?? {}) as object)) {
      const status = statusOf(stated);
      if (status) statuses.set(uuid, status);
    }
    return statuses;
  }

  /** Registers this server by its id and key. Returns true if it was unknown to the service. */
  async registerServer(hostname: string, contactEmail: string): Promise<boolean> {
    const { orgId, orgKey } = this.account;
    const form = { zulip_org_id: orgId, zulip_org_key: orgKey, hostname, contact_email: contactEmail };
    const response = await this.ask('server/register', { form });
    if (response.status !== 200) throw refused(response);
    return response.fields.created === true;
  }

  /** Uploads the organization's data and retries if the service does not know the organization. */
  private async askFor(realm: Realm, path: string, body: { form?: Form; json?: object }): Promise<ServiceResponse> {
    const response = await this.ask(path, body);
    if (response.status !== 403 || !isUnknownRealm(response)) return response;
    if ((await this.upload([realm])).status !== 200) throw denied();
    return this.ask(path, body);
  }

  /** Sends the organizations only, without message or user counts. */
  private upload(realms: readonly Realm[]): Promise<ServiceResponse> {
    const lists = { realm_counts: [], installation_counts: [], realmauditlog_rows: [] };
    const facts = { version: this.parts.server.version, api_feature_level: this.parts.server.featureLevel };
    const fields = { ...lists, realms: realms.map((realm) => this.entryOf(realm)), ...facts };
    return this.ask('server/analytics', {
      form: Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, JSON.stringify(value)])),
    });
  }

  /** @throws DomainError PUSH_SERVICE_UNREACHABLE, PUSH_SERVICE_FAILED */
  private async ask(path: string, { form, json }: { form?: Form; json?: object }): Promise<ServiceResponse> {
    let response: Response;
    let text: string;
    try {
      response = await this.parts.proxy.fetch(`${this.account.url}/api/v1/remotes/${path}`, {
        method: 'POST',
        redirect: 'error',
        signal: AbortSignal.timeout(TIMEOUT_MS),
        headers: {
          Authorization: this.authorization,
          'User-Agent': `ZulipServer/${this.parts.server.version}`,
          'Content-Type': form ? 'application/x-www-form-urlencoded' : 'application/json',
        },
        body: form ? new URLSearchParams(form).toString() : JSON.stringify(json),
      });
      text = await readShort(response, MAX_RESPONSE_BYTES);
    } catch {
      throw new DomainError(
        'PUSH_SERVICE_UNREACHABLE',
        'Network error while connecting to Zulip push notification service.',
      );
    }
    const fields = parseObject(text);
    if (response.status >= 500 || response.status === 429 || fields === null) {
      throw new DomainError(
        'PUSH_SERVICE_FAILED',
        'Internal server error on Zulip push notification service, retry later.',
      );
    }
    return { status: response.status, fields };
  }

  private formOf(to: PushRecipient, { kind, token }: Pick<PushToken, 'kind' | 'token'>): Form {
    const names = this.namesOf(to);
    return {
      server_uuid: this.account.orgId,
      ...names,
      user_id: String(names.user_id),
      token,
      token_kind: String(TOKEN_KIND_NUMBERS[kind]),
    };
  }

  private namesOf({ realm, userId }: PushRecipient) {
    return { realm_uuid: realm.uuid, user_uuid: userUuid(realm.uuid, userId), user_id: userId };
  }

  private entryOf(realm: Realm): object {
    const { account } = this;
    const url = this.parts.realmUrls.urlOf(realm satisfies AddressedRealm);
    const secret = createHmac('sha256', account.orgKey).update(`realm ${realm.uuid}`).digest('hex');
    return {
      id: realm.id,
      uuid: realm.uuid,
      uuid_owner_secret: `zuliprealm_${secret}`,
      host: new URL(url).host,
      url,
      name: realm.name,
      org_type: 0,
      date_created: Math.min(realm.createdAt, this.parts.clock.now()),
      deactivated: realm.isDeactivated,
      is_system_bot_realm: false,
      authentication_methods: { Email: realm.settings.emailAuthentication },
    };
  }
}

/** Derives a user's UUID from the organization's (RFC 9562, version 5). */
function userUuid(realmUuid: string, userId: number): string {
  const namespace = Buffer.from(realmUuid.replaceAll('-', ''), 'hex');
  const bytes = createHash('sha1').update(namespace).update(`user ${userId}`).digest().subarray(0, 16);
  bytes[6] = (bytes[6]! & 0x0f) | 0x50;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

export const tokenIdOf = (token: string): string =>
  createHash('sha256').update(token).digest().subarray(0, 8).toString('base64');

export const sealFor = ({ key }: ActiveDevice, text: string): SealedPayload => ({
  push_key_id: key.id,
  encrypted_data: encrypt(key.key, text),
});

const stringsOf = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];

/** Returns null unless the service states whether it serves the organization. */
function statusOf(value: unknown): PushStatus | null {
  const { can_push, expected_end_timestamp: endsAt } = (value ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof can_push !== 'boolean') return null;
  return { isEnabled: can_push, endsAt: Number.isSafeInteger(endsAt) ? (endsAt as number) : null };
}

/**
 * Encrypts with a fresh nonce, which precedes the ciphertext; the key's first byte selects the cipher (organization
 * §12.4).
 */
function encrypt(pushKey: string, text: string): string {
  const key = Buffer.from(pushKey, 'base64').subarray(1);
  const nonce = randomBytes(NONCE_BYTES);
  const sealed = xsalsa20poly1305(key, nonce).encrypt(Buffer.from(text));
  return Buffer.concat([nonce, sealed]).toString('base64');
}

function registrationErrorOf({ fields: { code, msg } }: ServiceResponse): RegistrationError | null {
  if (code === 'INVALID_BOUNCER_PUBLIC_KEY') return 'unknownPublicKey';
  if (code === 'REQUEST_EXPIRED') return 'expired';
  return code === 'BAD_REQUEST' && msg === 'Invalid encrypted_push_registration' ? 'invalidRegistration' : null;
}

const isUnknownRealm = ({ fields: { code, msg } }: ServiceResponse): boolean =>
  code === 'MISSING_REMOTE_REALM' || msg === 'Organization not registered';

const denied = () =>
  new DomainError(
    'PUSH_SERVICE_DENIED',
    'Push notification configuration issue on server, contact the server administrator or retry later.',
  );

/** Error with the service's own message, if any. */
const refused = ({ fields: { msg } }: ServiceResponse) =>
  new DomainError('PUSH_SERVICE_REFUSED', typeof msg === 'string' && msg !== '' ? msg : 'Refused by the push service');

/** Delivery error, which is retried unless the request itself is rejected. */
function refusedDelivery(response: ServiceResponse): DomainError {
  const { code } = response.fields;
  if (code === 'PUSH_NOTIFICATIONS_DISALLOWED') {
    return new DomainError('PUSH_NOT_ALLOWED', 'The push service does not serve this organization');
  }
  const isRepeated = response.status === 401 || response.status === 403 || code === 'INVALID_ZULIP_SERVER';
  return isRepeated ? denied() : refused(response);
}

function parseObject(text: string): ServiceResponse['fields'] | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as ServiceResponse['fields'])
      : null;
  } catch {
    return null;
  }
}
