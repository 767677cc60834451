import type { DeviceId } from '@parley/domain/kernel';
import {
  AddDevice,
  AddPushToken,
  type Device,
  type DeviceChange,
  loadDevices,
  type NewPushToken,
  PUSH_TOKEN_KINDS,
  type PushEventTypes,
  type PushKey,
  type PushStatusEventTypes,
  type PushTokenKind,
  RegisterForPush,
  type RegistrationError,
  RemoveDevice,
  RemovePushToken,
  SendEncryptedTestPush,
  SendTestPush,
} from '@parley/domain/push';
import type { HttpFeature } from '../declarations/feature.js';
import { type RegisterSection, registerSection } from '../declarations/register-section.js';
import { type Route, route } from '../declarations/route.js';
import { form, type Presenters, toAll, toNobody } from '../delivery/event-presenter.js';
import { integer, MAX_TEXT_LENGTH, MAX_TOKEN_LENGTH, refine } from '../params/param-types.js';
import { IntegerParam, NoParameters, param, TextParam, WordParam } from '../params/params.js';
import type { WireErrors, WireFields } from '../wire/reply.js';
import * as wire from '../wire/schema.js';

const DEVICE = {
  push_key_id: wire.nullable(wire.integer()),
  push_token_id: wire.nullable(wire.text()),
  pending_push_token_id: wire.nullable(wire.text()),
  push_token_last_updated_timestamp: wire.nullable(wire.integer()),
  push_registration_error_code: wire.nullable(wire.text()),
};

/** Organization §11. */
export const device = wire.named('Device', wire.fields(DEVICE));

/** Changed device fields. */
export const DEVICE_CHANGE: wire.Shape = wire.optionalFields(DEVICE);

export const PUSH_WIRE_ERRORS = {
  PUSH_SERVICE_NOT_CONFIGURED: { code: 'PUSH_SERVICE_NOT_CONFIGURED' },
  PUSH_DEVICE_NOT_RECOGNIZED: { code: 'INVALID_PUSH_DEVICE_TOKEN' },
  PUSH_TOKEN_UNKNOWN_TO_SERVICE: { code: 'INVALID_REMOTE_PUSH_DEVICE_TOKEN' },
  NO_ACTIVE_PUSH_DEVICE: { code: 'NO_ACTIVE_PUSH_DEVICE' },
  PUSH_SERVICE_UNREACHABLE: { status: 502, code: 'FAILED_TO_CONNECT_BOUNCER' },
  PUSH_SERVICE_FAILED: { status: 502, code: 'INTERNAL_SERVER_ERROR_ON_BOUNCER' },
  PUSH_SERVICE_DENIED: { status: 403, code: 'ADMIN_ACTION_REQUIRED' },
  PUSH_NOT_ALLOWED: { status: 403, code: 'ADMIN_ACTION_REQUIRED' },
} as const satisfies WireErrors;

/** Organization §12.2. */
const REGISTRATION_ERROR_CODES: Readonly<Record<RegistrationError, string>> = {
  unknownPublicKey: 'INVALID_BOUNCER_PUBLIC_KEY',
  invalidRegistration: 'BAD_REQUEST',
  expired: 'REQUEST_EXPIRED',
};

const presentError = (error: RegistrationError | null): string | null => error && REGISTRATION_ERROR_CODES[error];

/** Organization §11. */
export const presentDevice = ({ key, tokenId, pending, tokenUpdatedAt, error }: Device): WireFields => ({
  push_key_id: key?.id ?? null,
  push_token_id: tokenId,
  pending_push_token_id: pending?.tokenId ?? null,
  push_token_last_updated_timestamp: tokenUpdatedAt,
  push_registration_error_code: presentError(error),
});

/** Presents only the changed device fields. */
export const presentDeviceChange = (change: DeviceChange): WireFields => ({
  ...(change.keyId !== undefined && { push_key_id: change.keyId }),
  ...(change.tokenId !== undefined && { push_token_id: change.tokenId }),
  ...(change.pendingTokenId !== undefined && { pending_push_token_id: change.pendingTokenId }),
  ...(change.tokenUpdatedAt !== undefined && { push_token_last_updated_timestamp: change.tokenUpdatedAt }),
  ...(change.error !== undefined && { push_registration_error_code: presentError(change.error) }),
});

export const PUSH_EVENTS = {
  'device.added': toAll(form('device', { op: wire.oneOf('add'), device_id: wire.integer() }), ({ deviceId }) => ({
    op: 'add',
    device_id: deviceId,
  })),
  'device.removed': toAll(form('device', { op: wire.oneOf('remove'), device_id: wire.integer() }), ({ deviceId }) => ({
    op: 'remove',
    device_id: deviceId,
  })),
  'device.changed': toAll(
    form('device', { op: wire.oneOf('update'), device_id: wire.integer(), ...DEVICE_CHANGE }),
    ({ deviceId, change }) => ({
      op: 'update',
      device_id: deviceId,
      ...presentDeviceChange(change),
    }),
  ),
} satisfies Presenters<keyof PushEventTypes>;

const statusForm = (property: string, value: wire.Schemas[string]) =>
  form('realm', { op: wire.oneOf('update'), property: wire.oneOf(property), value });

/** Organization §2.6. */
const PUSH_STATUS_EVENTS = {
  'realm.push_status_changed': toAll(
    [
      statusForm('push_notifications_enabled', wire.boolean()),
      statusForm('push_notifications_enabled_end_timestamp', wire.nullable(wire.integer())),
    ],
    ({ change }) =>
      change.name === 'isEnabled'
        ? { op: 'update', property: 'push_notifications_enabled', value: change.value }
        : { op: 'update', property: 'push_notifications_enabled_end_timestamp', value: change.value },
  ),
} satisfies Presenters<keyof PushStatusEventTypes>;

/** Organization §11. */
export const devicesSection: RegisterSection = registerSection({
  name: 'device',
  fields: { devices: wire.dictionaryOf(device) },
  forSpectators: { devices: {} },
  load: (snapshot) => snapshot.load(loadDevices),
  present: (devices) => ({ devices: Object.fromEntries(devices.map((device) => [device.id, presentDevice(device)])) }),
});

const MAX_KEY_ID = 4_294_967_295;
const keyId = refine(integer(), (id) =>
  id < 0 || id > MAX_KEY_ID ? 'Invalid {p}: Value error, Not a valid unsigned 32-bit integer' : undefined,
);
/** Enough for an encrypted token of 4096 characters with its metadata. */
const MAX_REGISTRATION_LENGTH = 7000;
const MAX_APP_ID_LENGTH = 255;

class DeviceDto {
  @IntegerParam() device_id!: number;
}

class OptionalDeviceDto {
  @IntegerParam({ optional: true }) device_id?: number;
}

class RegisterForPushDto {
  @IntegerParam() device_id!: number;
  @param(keyId, { optional: true, description: 'Id of the push key.' }) push_key_id?: number;
  @TextParam({ max: MAX_TEXT_LENGTH, optional: true, description: 'Key that encrypts notifications for the device.' })
  push_key?: string;
  @WordParam(PUSH_TOKEN_KINDS, { optional: true, description: 'Service of the token: `fcm` or `apns`.' })
  token_kind?: PushTokenKind;
  @TextParam({ max: MAX_TEXT_LENGTH, optional: true, description: 'Id of the token.' }) token_id?: string;
  @TextParam({
    max: MAX_TOKEN_LENGTH,
    optional: true,
    description: 'Public key of the push service used for encryption.',
  })
  bouncer_public_key?: string;
  @TextParam({
    max: MAX_REGISTRATION_LENGTH,
    optional: true,
    description: 'Registration, encrypted for the push service.',
  })
  encrypted_push_registration?: string;
}

class TokenDto {
  @TextParam({ max: MAX_TEXT_LENGTH }) token!: string;
}

class ApnsTokenDto {
  @TextParam({ max: MAX_TEXT_LENGTH }) token!: string;
  @TextParam({ max: MAX_APP_ID_LENGTH, pattern: /^[.a-zA-Z0-9-]+$/, description: 'Id of the app.' }) appid!: string;
}

class OptionalTokenDto {
  @TextParam({ max: MAX_TEXT_LENGTH, optional: true }) token?: string;
}

/** Treats an incomplete key as absent (organization §12). */
const toKey = ({ push_key_id: id, push_key: key }: RegisterForPushDto): PushKey | null =>
  id === undefined || key === undefined ? null : { id, key };

function toToken(dto: RegisterForPushDto): NewPushToken | null {
  const { token_kind: kind, token_id: tokenId, bouncer_public_key: publicKey, encrypted_push_registration } = dto;
  const isWhole = kind && tokenId !== undefined && publicKey !== undefined && encrypted_push_registration !== undefined;
  return isWhole ? { kind, tokenId, publicKey, encrypted: encrypted_push_registration } : null;
}

const removeToken = (path: string, summary: string, kind: PushTokenKind): Route =>
  route('DELETE', path, {
    summary,
    section: 'organization §13',
    withoutPage: 'apps',
    auth: 'user',
    scope: 'account',
    roleRequirements: ['human'],
    dto: TokenDto,
    useCase: RemovePushToken,
    toInput: ({ token }) => ({ kind, token }),
  });

export const pushRoutes: readonly Route[] = [
  route('POST', '/register_client_device', {
    summary: 'Register a device',
    section: 'organization §11',
    withoutPage: 'apps',
    auth: 'user',
    scope: 'account',
    roleRequirements: ['human'],
    dto: NoParameters,
    useCase: AddDevice,
    response: wire.fields({ device_id: wire.integer() }),
    present: (deviceId) => ({ device_id: deviceId }),
  }),
  route('POST', '/remove_client_device', {
    summary: 'Remove a device',
    section: 'organization §11',
    withoutPage: 'apps',
    auth: 'user',
    scope: 'account',
    dto: DeviceDto,
    useCase: RemoveDevice,
    toInput: ({ device_id }) => ({ deviceId: device_id as DeviceId }),
  }),
  route('POST', '/mobile_push/register', {
    summary: 'Register a device for encrypted push notifications',
    section: 'organization §12',
    isStarred: true,
    withoutPage: 'apps',
    auth: 'user',
    scope: 'account',
    roleRequirements: ['human'],
    dto: RegisterForPushDto,
    useCase: RegisterForPush,
    toInput: (dto) => ({ deviceId: dto.device_id as DeviceId, key: toKey(dto), token: toToken(dto) }),
  }),
  route('POST', '/users/me/apns_device_token', {
    summary: 'Register an Apple device token',
    section: 'organization §13',
    isStarred: true,
    withoutPage: 'apps',
    auth: 'user',
    scope: 'account',
    roleRequirements: ['human'],
    dto: ApnsTokenDto,
    useCase: AddPushToken,
    toInput: ({ token, appid }) => ({ kind: 'apns' as const, token, iosAppId: appid }),
  }),
  removeToken('/users/me/apns_device_token', 'Remove an Apple device token', 'apns'),
  route('POST', '/users/me/android_gcm_reg_id', {
    summary: 'Register an Android device token',
    section: 'organization §13',
    withoutPage: 'apps',
    auth: 'user',
    scope: 'account',
    roleRequirements: ['human'],
    dto: TokenDto,
    useCase: AddPushToken,
    toInput: ({ token }) => ({ kind: 'fcm' as const, token, iosAppId: null }),
  }),
  removeToken('/users/me/android_gcm_reg_id', 'Remove an Android device token', 'fcm'),
  route('POST', '/mobile_push/test_notification', {
    summary: 'Send a test notification',
    section: 'organization §13',
    withoutPage: 'apps',
    auth: 'user',
    scope: 'account',
    roleRequirements: ['human'],
    dto: OptionalTokenDto,
    useCase: SendTestPush,
    toInput: ({ token = null }: { token?: string | null }) => ({ token }),
  }),
  route('POST', '/mobile_push/e2ee/test_notification', {
    summary: 'Send an encrypted test notification',
    section: 'organization §13',
    withoutPage: 'apps',
    auth: 'user',
    scope: 'account',
    roleRequirements: ['human'],
    dto: OptionalDeviceDto,
    useCase: SendEncryptedTestPush,
    toInput: ({ device_id }) => ({ deviceId: (device_id as DeviceId | undefined) ?? null }),
  }),
];

export const PUSH = {
  tag: 'Push notifications',
  routes: () => pushRoutes,
  events: { ...PUSH_EVENTS, ...PUSH_STATUS_EVENTS, 'notification.due': toNobody },
  errors: PUSH_WIRE_ERRORS,
  registerSections: () => [devicesSection],
} satisfies HttpFeature;
