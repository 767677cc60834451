import type { UnixSeconds } from '../kernel/ids.js';
import { decodeBase64 } from '../kernel/text.js';
import { type PendingRegistration, PUSH_TOKEN_KINDS, type PushToken, type RegistrationError } from './push.js';

/** Notification in the format of the phone vendor's service. */
export interface PhonePush {
  /** Request body for Apple, data for Google. */
  readonly payload: Readonly<Record<string, unknown>>;
  /** True if the notification may wake the phone. */
  readonly isUrgent: boolean;
  /** True if the phone shows nothing. */
  readonly isSilent: boolean;
}

/**
 * `gone`: no notification will ever reach the token. `refused`: retrying would also fail. `unreached`: a later attempt
 * may succeed.
 */
export type PhoneOutcome = 'sent' | 'gone' | 'refused' | 'unreached';

export interface PhoneResult {
  readonly outcome: PhoneOutcome;
  /** Reason from the service, for operators; empty if the notification was sent. */
  readonly reason: string;
}

export const SENT_TO_PHONE: PhoneResult = { outcome: 'sent', reason: '' };

/** Apple's or Google's service for reaching phones. Calls another server, so it must be used outside units of work. */
export interface PhoneSender {
  /** Never throws. Gives up within 14 seconds, since other servers wait at most 15 seconds for a push service. */
  send(to: PushToken, push: PhonePush): Promise<PhoneResult>;
}

/** Private keys of a push service. Apps encrypt their tokens with the public keys (organization §12.4). */
export interface RegistrationKeys {
  /** Base64. */
  readonly publicKeys: readonly string[];
  /** Returns the plaintext, or null if it was not encrypted with `publicKey`, one of `publicKeys`. */
  open(publicKey: string, encrypted: string): string | null;
  tokenIdOf(token: string): string;
}

/** Maximum age of a new registration. */
const REGISTRATION_SECONDS = 86_400;
const MAX_TOKEN_LENGTH = 4096;
const HEXADECIMAL = /^[\da-f]+$/i;
const APP_ID = /^[.a-zA-Z0-9-]{1,255}$/;

/** Decrypts and checks a registration (organization §12.3). `now`: null if the registration was already accepted. */
export function openRegistration(
  keys: RegistrationKeys,
  { publicKey, encrypted, tokenId }: PendingRegistration,
  now: UnixSeconds | null,
): PushToken | RegistrationError {
  if (!keys.publicKeys.includes(publicKey)) return 'unknownPublicKey';
  const text = decodeBase64(encrypted) === null ? null : keys.open(publicKey, encrypted);
  const opened = text === null ? null : readRegistration(text);
  if (!opened || keys.tokenIdOf(opened.token.token) !== tokenId) return 'invalidRegistration';
  if (now !== null && now - opened.timestamp > REGISTRATION_SECONDS) return 'expired';
  return opened.token;
}

function readRegistration(text: string): { readonly token: PushToken; readonly timestamp: number } | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  const { token, token_kind: kind, timestamp, ios_app_id: app = null } = Object(value) as Record<string, unknown>;
  const isToken = typeof token === 'string' && token !== '' && token.length <= MAX_TOKEN_LENGTH;
  const found = PUSH_TOKEN_KINDS.find((each) => each === kind);
  if (!isToken || !found || typeof timestamp !== 'number' || !Number.isSafeInteger(timestamp)) return null;
  if (found === 'fcm') return app === null ? { token: { kind: found, token, iosAppId: null }, timestamp } : null;
  if (!HEXADECIMAL.test(token) || typeof app !== 'string' || !APP_ID.test(app)) return null;
  return { token: { kind: found, token, iosAppId: app }, timestamp };
}

/** Maximum number of concurrent notifications per call. */
const PHONES_AT_A_TIME = 20;

/** Notification with the caller's own identifier of its target. */
export interface PhoneRequest<T> {
  readonly target: T;
  readonly to: PushToken;
  readonly push: PhonePush;
}

/** Targets grouped by outcome. */
export interface PhoneDelivery<T> extends Readonly<Record<PhoneOutcome, readonly PhoneRequest<T>[]>> {
  /** Failure reason; empty if there was none. */
  readonly reason: string;
}

export async function sendToPhones<T>(
  sender: PhoneSender,
  requests: readonly PhoneRequest<T>[],
): Promise<PhoneDelivery<T>> {
  const delivery = { sent: [], gone: [], refused: [], unreached: [], reason: '' } as {
    [K in PhoneOutcome]: PhoneRequest<T>[];
  } & { reason: string };
  const waiting = requests.values();
  const work = async () => {
    for (const request of waiting) {
      const { outcome, reason } = await sender.send(request.to, request.push);
      delivery[outcome].push(request);
      if (reason !== '') delivery.reason = reason;
    }
  };
  await Promise.all(Array.from({ length: PHONES_AT_A_TIME }, work));
  return delivery;
}
