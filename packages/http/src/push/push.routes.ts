import type { DeviceId } from '@parley/domain/kernel';
import {
  AddDevice,
  AddPushToken,
  type NewPushToken,
  PUSH_TOKEN_KINDS,
  type PushKey,
  type PushTokenKind,
  RegisterForPush,
  RemoveDevice,
  RemovePushToken,
  SendEncryptedTestPush,
  SendTestPush,
} from '@parley/domain/push';
import { MAX_TEXT_LENGTH, MAX_TOKEN_LENGTH } from '../kernel/limits.js';
import { integer, refine } from '../kernel/param-types.js';
import { IntegerParam, NoParameters, param, TextParam, WordParam } from '../kernel/params.js';
import { type Route, route } from '../kernel/route.js';
import * as wire from '../kernel/wire-schema.js';

const MAX_KEY_ID = 4_294_967_295;
const keyId = refine(integer(), (id) =>
  id < 0 || id > MAX_KEY_ID ? 'Invalid {p}: Value error, Not a valid unsigned 32-bit integer' : undefined,
);
/** Of a token of 4096 characters with what belongs to it, encrypted. */
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
  @param(keyId, { optional: true }) push_key_id?: number;
  @TextParam({ max: MAX_TEXT_LENGTH, optional: true }) push_key?: string;
  @WordParam(PUSH_TOKEN_KINDS, { optional: true }) token_kind?: PushTokenKind;
  @TextParam({ max: MAX_TEXT_LENGTH, optional: true }) token_id?: string;
  @TextParam({ max: MAX_TOKEN_LENGTH, optional: true }) bouncer_public_key?: string;
  @TextParam({ max: MAX_REGISTRATION_LENGTH, optional: true }) encrypted_push_registration?: string;
}

class TokenDto {
  @TextParam({ max: MAX_TEXT_LENGTH }) token!: string;
}

class ApnsTokenDto {
  @TextParam({ max: MAX_TEXT_LENGTH }) token!: string;
  @TextParam({ max: MAX_APP_ID_LENGTH, pattern: /^[.a-zA-Z0-9-]+$/ }) appid!: string;
}

class OptionalTokenDto {
  @TextParam({ max: MAX_TEXT_LENGTH, optional: true }) token?: string;
}

/** What is given in part counts as absent (organization §12). */
const toKey = ({ push_key_id: id, push_key: key }: RegisterForPushDto): PushKey | null =>
  id === undefined || key === undefined ? null : { id, key };

function toToken(dto: RegisterForPushDto): NewPushToken | null {
  const { token_kind: kind, token_id: tokenId, bouncer_public_key: publicKey, encrypted_push_registration } = dto;
  const isWhole = kind && tokenId !== undefined && publicKey !== undefined && encrypted_push_registration !== undefined;
  return isWhole ? { kind, tokenId, publicKey, encrypted: encrypted_push_registration } : null;
}

const removeToken = (path: string, kind: PushTokenKind): Route =>
  route('DELETE', path, {
    auth: 'user',
    roleRequirements: ['human'],
    dto: TokenDto,
    useCase: RemovePushToken,
    toInput: ({ token }) => ({ kind, token }),
  });

export const pushRoutes: readonly Route[] = [
  route('POST', '/register_client_device', {
    auth: 'user',
    roleRequirements: ['human'],
    dto: NoParameters,
    useCase: AddDevice,
    answer: wire.fields({ device_id: wire.integer() }),
    present: (deviceId) => ({ device_id: deviceId }),
  }),
  route('POST', '/remove_client_device', {
    auth: 'user',
    dto: DeviceDto,
    useCase: RemoveDevice,
    toInput: ({ device_id }) => ({ deviceId: device_id as DeviceId }),
  }),
  route('POST', '/mobile_push/register', {
    auth: 'user',
    roleRequirements: ['human'],
    dto: RegisterForPushDto,
    useCase: RegisterForPush,
    toInput: (dto) => ({ deviceId: dto.device_id as DeviceId, key: toKey(dto), token: toToken(dto) }),
  }),
  route('POST', '/users/me/apns_device_token', {
    auth: 'user',
    roleRequirements: ['human'],
    dto: ApnsTokenDto,
    useCase: AddPushToken,
    toInput: ({ token, appid }) => ({ kind: 'apns' as const, token, iosAppId: appid }),
  }),
  removeToken('/users/me/apns_device_token', 'apns'),
  route('POST', '/users/me/android_gcm_reg_id', {
    auth: 'user',
    roleRequirements: ['human'],
    dto: TokenDto,
    useCase: AddPushToken,
    toInput: ({ token }) => ({ kind: 'fcm' as const, token, iosAppId: null }),
  }),
  removeToken('/users/me/android_gcm_reg_id', 'fcm'),
  route('POST', '/mobile_push/test_notification', {
    auth: 'user',
    roleRequirements: ['human'],
    dto: OptionalTokenDto,
    useCase: SendTestPush,
    toInput: ({ token = null }: { token?: string | null }) => ({ token }),
  }),
  route('POST', '/mobile_push/e2ee/test_notification', {
    auth: 'user',
    roleRequirements: ['human'],
    dto: OptionalDeviceDto,
    useCase: SendEncryptedTestPush,
    toInput: ({ device_id }) => ({ deviceId: (device_id as DeviceId | undefined) ?? null }),
  }),
];
