import { createHash, timingSafeEqual } from 'node:crypto';
import type { RealmId, UnixSeconds, UserId } from '@parley/domain/kernel';
import type { PendingRegistration, PhonePush, PushToken, PushTokenKind, RegistrationError } from '@parley/domain/push';
import {
  type Authenticator,
  badParameter,
  HttpRefusal,
  type Identity,
  malformedJson,
  missingArgument,
  NoParameters,
  type Request,
  type Route,
  route,
  success,
  type WireFields,
} from '@parley/http';
import type {
  DeviceRequest,
  LegacyRequest,
  PushRefusal,
  PushServer,
  PushServerStore,
  RemoteDelivery,
} from './push-server.js';

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;
const KEY = /^[\x21-\x39\x3b-\x7e]{32,128}$/;
const APP_ID = /^[.a-zA-Z0-9-]{1,255}$/;
const MAX_TEXT_LENGTH = 8000;
const MAX_TOKEN_LENGTH = 4096;
const MAX_HOSTNAME_LENGTH = 128;
const MAX_EMAIL_LENGTH = 254;
/** Low, because each server sends the notifications of one user at a time. */
const MAX_REQUESTS = 500;
const MAX_REALMS_PER_CALL = 1000;

const hashOf = (key: string): string => createHash('sha256').update(key).digest('hex');

const unknownServer = (msg: string) => new HttpRefusal(401, 'INVALID_ZULIP_SERVER', msg);

/** Authenticates other servers by Basic authentication with their UUID and key (organization §17). */
export class RemoteServerAuthenticator implements Authenticator {
  constructor(private readonly store: Pick<PushServerStore, 'findServer'>) {}

  /** Represents the server as a user, so quotas and budgets count per server. */
  async authenticate(request: Request): Promise<Identity | null> {
    const [, encoded = ''] = /^Basic +([\w+/=-]{1,1000})$/i.exec(request.header('authorization') ?? '') ?? [];
    const [uuid = '', key = ''] = Buffer.from(encoded, 'base64').toString().split(':');
    const server = UUID.test(uuid) ? await this.store.findServer(uuid.toLowerCase()) : null;
    if (!server)
      throw unknownServer(`Zulip server auth failure: ${UUID.test(uuid) ? uuid : 'the server'} is not registered`);
    if (!isSameHash(server.keyHash, hashOf(key))) {
      throw unknownServer('Zulip server auth failure: key does not match role');
    }
    return { realmId: 0 as RealmId, userId: server.id as UserId, botKind: null };
  }
}

const isSameHash = (one: string, other: string): boolean => timingSafeEqual(Buffer.from(one), Buffer.from(other));

/** Fields of a form or a JSON object. */
class RequestFields {
  private readonly values: Readonly<Record<string, unknown>>;

  constructor(request: Request) {
    const text = request.content?.toString('utf8') ?? '';
    this.values = request.header('content-type')?.startsWith('application/json')
      ? objectOf(parseJson(text), 'body')
      : Object.fromEntries(new URLSearchParams(text));
  }

  /** Returns null if the field is absent. */
  find(name: string): unknown {
    return Object.hasOwn(this.values, name) ? (this.values[name] ?? null) : null;
  }

  /** @throws HttpRefusal */
  text(name: string, { max = MAX_TEXT_LENGTH, pattern }: { max?: number; pattern?: RegExp } = {}): string {
    const value = this.find(name);
    if (value === null) throw missingArgument(name);
    const text = typeof value === 'number' ? String(value) : value;
    if (typeof text !== 'string' || text === '' || text.length > max || (pattern && !pattern.test(text))) {
      throw badParameter(`Invalid ${name}`);
    }
    return text;
  }

  /** Reads a list; forms contain it as JSON. @throws HttpRefusal */
  list(name: string, max: number): readonly unknown[] {
    const value = this.find(name);
    if (value === null) throw missingArgument(name);
    const list = typeof value === 'string' ? parseJson(value) : value;
    if (!Array.isArray(list) || list.length > max) throw badParameter(`Invalid ${name}`);
    return list;
  }

  object(name: string): Readonly<Record<string, unknown>> {
    const value = this.find(name);
    return value === null ? {} : objectOf(value, name);
  }

  uuid(name: string): string {
    return this.text(name, { pattern: UUID }).toLowerCase();
  }

  /** Older servers identify users only by number. */
  get user(): string {
    return this.find('user_uuid') === null ? this.text('user_id', { pattern: /^\d{1,15}$/ }) : this.uuid('user_uuid');
  }

  get kind(): PushTokenKind {
    return this.text('token_kind', { pattern: /^[12]$/ }) === '1' ? 'apns' : 'fcm';
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw malformedJson();
  }
}

function objectOf(value: unknown, name: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw badParameter(`Invalid ${name}`);
  return value as Readonly<Record<string, unknown>>;
}

/** Error responses of organization §17. */
const REFUSALS: Readonly<
  Record<PushRefusal | RegistrationError, readonly [status: number, code: string, msg: string]>
> = {
  unknownRealm: [403, 'MISSING_REMOTE_REALM', 'Organization not registered'],
  taken: [
    403,
    'REMOTE_REALM_SERVER_MISMATCH_ERROR',
    'Your organization is registered to a different server. Please contact the operator of the push service.',
  ],
  full: [400, 'BAD_REQUEST', 'The limit of the push service is reached'],
  wrongKey: [401, 'INVALID_ZULIP_SERVER', 'Zulip server auth failure: key does not match role'],
  unknownToken: [400, 'BAD_REQUEST', 'Token does not exist'],
  unreachable: [503, 'BAD_REQUEST', 'The services of phone makers cannot be reached'],
  unknownPublicKey: [400, 'INVALID_BOUNCER_PUBLIC_KEY', 'Invalid bouncer_public_key'],
  invalidRegistration: [400, 'BAD_REQUEST', 'Invalid encrypted_push_registration'],
  expired: [400, 'REQUEST_EXPIRED', 'Request expired'],
};

/** @throws HttpRefusal */
function accept<T>(result: T): Exclude<T, PushRefusal | RegistrationError> {
  if (typeof result === 'string') throw new HttpRefusal(...REFUSALS[result as PushRefusal]);
  return result as Exclude<T, PushRefusal | RegistrationError>;
}

/** The service only confirms that it serves an organization. */
const SERVED = { can_push: true, expected_end_timestamp: null };

const post = (
  path: string,
  handle: (server: PushServer, fields: RequestFields, serverId: number) => Promise<WireFields>,
) => {
  return (server: PushServer): Route =>
    route('POST', `/remotes/${path}`, {
      summary: null,
      auth: 'user',
      scope: 'account',
      limit: 'api_by_remote_server',
      dto: NoParameters,
      body: 'raw',
      sessions: 'none',
      handle: async ({ request, caller }) => success(await handle(server, new RequestFields(request), caller.userId)),
    });
};

const ROUTES = [
  post('server/deactivate', async (server, _fields, id) => {
    await server.deactivate(id);
    return {};
  }),
  post('server/analytics', async (server, fields, id) => {
    const realms = fields.find('realms') === null ? [] : fields.list('realms', MAX_REALMS_PER_CALL);
    const uuids = realms.map((realm) => {
      const { uuid } = objectOf(realm, 'realms');
      if (typeof uuid !== 'string' || !UUID.test(uuid)) throw badParameter('Invalid realms');
      return uuid.toLowerCase();
    });
    accept(await server.addRealms(id, uuids));
    return { realms: Object.fromEntries(uuids.map((uuid) => [uuid, SERVED])) };
  }),
  post('push/register', async (server, fields, id) => {
    accept(await server.registerToken(id, fields.uuid('realm_uuid'), fields.user, tokenOf(fields)));
    return {};
  }),
  post('push/unregister', async (server, fields, id) => {
    accept(await server.unregisterToken(id, fields.user, fields.text('token', { max: MAX_TOKEN_LENGTH })));
    return {};
  }),
  post('push/unregister/all', async (server, fields, id) => {
    await server.unregisterAll(id, fields.user);
    return {};
  }),
  post('push/notify', async (server, fields, id) => {
    const { priority = 'high' } = fields.object('gcm_options');
    const isUrgent = priority !== 'normal';
    const [apns, fcm] = [fields.object('apns_payload'), fields.object('gcm_payload')];
    const tokens = { apple: textsOf(fields, 'apple_devices'), android: textsOf(fields, 'android_devices') };
    const delivery = accept(
      await server.notifyTokens(id, {
        ...{ realmUuid: fields.uuid('realm_uuid'), user: fields.user },
        tokens: [...tokens.apple, ...tokens.android],
        pushes: {
          apns: { payload: apns, isUrgent, isSilent: false },
          fcm: { payload: fcm, isUrgent, isSilent: false },
        },
      }),
    );
    const isGone = (token: string) => delivery.goneIds.includes(server.tokenIdOf(token));
    return {
      total_android_devices: delivery.sent.fcm,
      total_apple_devices: delivery.sent.apns,
      deleted_devices: {
        android_devices: tokens.android.filter(isGone),
        apple_devices: tokens.apple.filter(isGone),
      },
      realm: SERVED,
      ...retryOf(delivery),
    };
  }),
  post('push/test_notification', async (server, fields, id) => {
    const token = fields.text('token', { max: MAX_TOKEN_LENGTH });
    const { kind } = fields;
    const pushes = testPushes(fields.object('base_payload'), server.now);
    const realmUuid = fields.uuid('realm_uuid');
    const delivery = accept(await server.notifyTokens(id, { realmUuid, user: fields.user, tokens: [token], pushes }));
    if (delivery.sent[kind] === 0) {
      throw new HttpRefusal(400, 'INVALID_REMOTE_PUSH_DEVICE_TOKEN', 'Device not recognized by the push bouncer');
    }
    return {};
  }),
  post('push/e2ee/register', async (server, fields, id) => {
    const registration: PendingRegistration = {
      tokenId: fields.text('token_id'),
      publicKey: fields.text('bouncer_public_key'),
      encrypted: fields.text('encrypted_push_registration'),
    };
    accept(await server.registerDevice(id, fields.uuid('realm_uuid'), registration));
    return {};
  }),
  post('push/e2ee/notify', async (server, fields, id) => {
    const requests = fields.list('push_requests', MAX_REQUESTS).map(deviceRequestOf);
    const delivery = accept(await server.notifyDevices(id, fields.uuid('realm_uuid'), requests));
    return {
      apple_successfully_sent_count: delivery.sent.apns,
      android_successfully_sent_count: delivery.sent.fcm,
      delete_token_ids: delivery.goneIds,
      realm_push_status: SERVED,
      ...retryOf(delivery),
    };
  }),
];

function tokenOf(fields: RequestFields): PushToken {
  const { kind } = fields;
  const token = fields.text('token', { max: MAX_TOKEN_LENGTH });
  return { kind, token, iosAppId: kind === 'apns' ? fields.text('ios_app_id', { pattern: APP_ID }) : null };
}

/** Reads a list of strings; servers omit empty lists. */
function textsOf(fields: RequestFields, name: string): readonly string[] {
  const list = fields.find(name) === null ? [] : fields.list(name, MAX_REQUESTS);
  if (!list.every((each) => typeof each === 'string')) throw badParameter(`Invalid ${name}`);
  return list;
}

/** Parses the request for one device (organization §17). */
function deviceRequestOf(value: unknown): DeviceRequest {
  const { token_id: tokenId, fcm_priority, http_headers, payload } = objectOf(value, 'push_requests');
  if (typeof tokenId !== 'string') throw badParameter('Invalid push_requests');
  const { apns_priority = 10, apns_push_type = 'alert' } = objectOf(http_headers ?? {}, 'push_requests');
  const isUrgent = fcm_priority !== 'normal' && Number(apns_priority) === 10;
  const isSilent = apns_push_type === 'background';
  return { tokenId, push: { payload: objectOf(payload, 'push_requests'), isUrgent, isSilent } };
}

/** Test notification (organization §14.3). */
function testPushes(base: Readonly<Record<string, unknown>>, now: UnixSeconds): LegacyRequest['pushes'] {
  const { server: _server, realm_id: _realmId, ...zulip } = base;
  const body = `This is a test notification from ${zulip.realm_name} (${zulip.realm_url}).`;
  const aps = { alert: { title: 'Test notification', body }, sound: 'default', badge: 0 };
  const push = (payload: PhonePush['payload']) => ({ payload, isUrgent: true, isSilent: false });
  return {
    apns: push({ aps, zulip: { ...zulip, event: 'test' } }),
    fcm: push({ ...base, event: 'test', time: now }),
  };
}

async function register(server: PushServer, fields: RequestFields): Promise<boolean> {
  const newKey = fields.find('new_org_key') === null ? null : fields.text('new_org_key', { pattern: KEY });
  const result = await server.register(
    {
      uuid: fields.uuid('zulip_org_id'),
      keyHash: hashOf(fields.text('zulip_org_key', { pattern: KEY })),
      hostname: fields.text('hostname', { max: MAX_HOSTNAME_LENGTH }),
      contactEmail: fields.text('contact_email', { max: MAX_EMAIL_LENGTH }),
    },
    newKey === null ? null : hashOf(newKey),
  );
  return accept(result);
}

/** Extension for Parley servers; other servers drop undelivered notifications. */
const retryOf = ({ retryIds }: RemoteDelivery) => (retryIds.length > 0 ? { retry_token_ids: retryIds } : {});

/** Operations of a push service (organization §17). */
export const pushServerRoutes = (server: PushServer): readonly Route[] => [
  route('POST', '/remotes/server/register', {
    summary: null,
    auth: 'anyone',
    dto: NoParameters,
    limit: 'push_server_by_ip',
    body: 'raw',
    sessions: 'none',
    handle: async ({ request }) => success({ created: await register(server, new RequestFields(request)) }),
  }),
  route('GET', '/remotes/server/analytics/status', {
    summary: null,
    auth: 'user',
    scope: 'account',
    limit: 'api_by_remote_server',
    dto: NoParameters,
    sessions: 'none',
    handle: async () => success({ last_realm_count_id: 0, last_installation_count_id: 0, last_realmauditlog_id: 0 }),
  }),
  ...ROUTES.map((make) => make(server)),
];
