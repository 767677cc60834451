import type { ClientHttp2Session, ClientHttp2Stream } from 'node:http2';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Clock, hasPassed, isDue, type ReportProblem } from '@parley/domain/kernel';
import { type PhonePush, type PhoneResult, type PhoneSender, type PushToken, SENT_TO_PHONE } from '@parley/domain/push';
import type { OutgoingProxy } from './outgoing-proxy.js';
import { readShort } from './read-short.js';

/** Apple developer account key. */
export interface ApnsAccount {
  /** Private key in PEM, as in the `.p8` file. */
  readonly key: string;
  readonly keyId: string;
  readonly teamId: string;
  /** `https://api.sandbox.push.apple.com` for development builds. */
  readonly url: string;
}

/** Google service account. */
export interface FcmAccount {
  readonly projectId: string;
  readonly clientEmail: string;
  /** PEM. */
  readonly privateKey: string;
  /** Endpoint that exchanges signed requests for access tokens. */
  readonly tokenUrl: string;
  readonly url: string;
}

export const APNS_URL = 'https://api.push.apple.com';
export const FCM_URL = 'https://fcm.googleapis.com';

export interface PhoneSenderParts {
  readonly clock: Clock;
  readonly report: ReportProblem;
  readonly proxy: OutgoingProxy;
}

const TIMEOUT_MS = 4000;
const ATTEMPTS = 3;
/** Latest start of an attempt, so that the last one ends within 14 seconds. */
const LAST_START_MS = 5000;
/** Minimum time between two log lines about the same service. */
const REPORT_MS = 60_000;
const FIRST_PAUSE_MS = 200;
/** Pause after an unreachable service, so that other notifications do not wait for it. */
const DOWN_MS = 5000;
const MAX_RESPONSE_BYTES = 100_000;
/** Time that the services keep a notification for an offline phone. */
const TTL_SECONDS = 86_400;

/** Retries a few times. Subclasses throw if the service itself is unreachable. */
abstract class RepeatingSender implements PhoneSender {
  protected abstract readonly name: string;
  private downUntilMs = 0;
  private downReason = '';
  private reportsAfterMs = 0;

  constructor(protected readonly parts: PhoneSenderParts) {}

  protected abstract attempt(to: PushToken, push: PhonePush): Promise<PhoneResult>;

  async send(to: PushToken, push: PhonePush): Promise<PhoneResult> {
    const { clock } = this.parts;
    const startedAt = performance.now();
    for (let attempt = 1; isDue(this.downUntilMs, clock.nowMs(), DOWN_MS); attempt++) {
      try {
        const result = await this.attempt(to, push);
        if (result.outcome === 'unreached') this.report(`${this.name} accepts no notifications: ${result.reason}`);
        return result;
      } catch (error) {
        this.downReason = `${this.name} cannot be reached: ${(error as Error).message}`;
        if (attempt === ATTEMPTS || performance.now() - startedAt > LAST_START_MS) {
          this.downUntilMs = clock.nowMs() + DOWN_MS;
          this.report(this.downReason);
        } else await sleep(FIRST_PAUSE_MS * attempt);
      }
    }
    return { outcome: 'unreached', reason: this.downReason };
  }

  private report(problem: string): void {
    const now = this.parts.clock.nowMs();
    if (!isDue(this.reportsAfterMs, now, REPORT_MS)) return;
    this.reportsAfterMs = now + REPORT_MS;
    this.parts.report(problem, {}, 'warn');
  }
}

/** Signatures are valid for an hour; Apple rejects new ones more often than every 20 minutes. */
const SIGNATURE_SECONDS = 2400;
const GONE_AT_APPLE: ReadonlySet<unknown> = new Set(['Unregistered', 'BadDeviceToken', 'DeviceTokenNotForTopic']);
const HEXADECIMAL = /^[\da-f]+$/i;

/** Sends through Apple's service over HTTP/2 with one connection (organization §18). */
export class ApnsSender extends RepeatingSender {
  protected readonly name = 'APNs';
  private session: ClientHttp2Session | null = null;
  /** Shared by notifications that wait for the connection. */
  private opening: Promise<ClientHttp2Session> | null = null;
  private pending = 0;
  private signature: { readonly text: string; readonly madeAt: number } | null = null;

  constructor(
    private readonly account: ApnsAccount,
    parts: PhoneSenderParts,
  ) {
    super(parts);
  }

  protected async attempt({ token, iosAppId }: PushToken, push: PhonePush): Promise<PhoneResult> {
    if (!HEXADECIMAL.test(token)) return { outcome: 'gone', reason: 'BadDeviceToken' };
    if (iosAppId === null) return { outcome: 'refused', reason: 'MissingTopic' };
    const headers = {
      ':method': 'POST',
      ':path': `/3/device/${token}`,
      'apns-topic': iosAppId,
      'apns-push-type': push.isSilent ? 'background' : 'alert',
      'apns-priority': push.isUrgent ? '10' : '5',
      'apns-expiration': String(this.parts.clock.now() + TTL_SECONDS),
    };
    const body = JSON.stringify(push.payload);
    const ask = async () => this.ask({ ...headers, authorization: `bearer ${await this.sign()}` }, body);
    let { status, reason } = await ask();
    if (reason === 'ExpiredProviderToken') {
      this.signature = null;
      ({ status, reason } = await ask());
    }
    if (status === 200) return SENT_TO_PHONE;
    if (status === 410 || GONE_AT_APPLE.has(reason)) return { outcome: 'gone', reason };
    if (status >= 500) throw new Error(`${status} ${reason}`);
    return { outcome: status === 403 || status === 429 ? 'unreached' : 'refused', reason: `${status} ${reason}` };
  }

  /** Shared by all notifications, since Apple limits how often the signature may change. */
  private async sign(): Promise<string> {
    const now = this.parts.clock.now();
    if (this.signature && !hasPassed(this.signature.madeAt, SIGNATURE_SECONDS, now)) return this.signature.text;
    const { importPKCS8, SignJWT } = await import('jose');
    const { key, keyId, teamId } = this.account;
    const text = await new SignJWT()
      .setProtectedHeader({ alg: 'ES256', kid: keyId })
      .setIssuer(teamId)
      .setIssuedAt(now)
      .sign(await importPKCS8(key, 'ES256'));
    this.signature = { text, madeAt: now };
    return text;
  }

  private async ask(headers: Readonly<Record<string, string>>, body: string) {
    const session = await this.open();
    this.pending++;
    session.ref();
    try {
      return await exchange(session, headers, body);
    } catch (error) {
      // The next attempt opens a new connection, while other notifications may finish on this one.
      if (this.session === session) this.session = null;
      session.close();
      throw error;
    } finally {
      if (--this.pending === 0 && !session.destroyed) session.unref();
    }
  }

  private async open(): Promise<ClientHttp2Session> {
    if (this.session && !this.session.closed && !this.session.destroyed) return this.session;
    this.opening ??= this.connect().finally(() => {
      this.opening = null;
    });
    return this.opening;
  }

  private async connect(): Promise<ClientHttp2Session> {
    const { connect } = await import('node:http2');
    const { url } = this.account;
    const tunnel = await this.parts.proxy.tunnelTo(url, TIMEOUT_MS);
    const session = connect(url, tunnel ? { createConnection: () => tunnel } : {});
    // Errors reach the pending requests; the service closes idle connections.
    session.on('error', () => {});
    const forget = () => {
      if (this.session === session) this.session = null;
    };
    session.on('close', forget).on('goaway', forget);
    this.session = session;
    return session;
  }
}

function exchange(session: ClientHttp2Session, headers: Readonly<Record<string, string>>, body: string) {
  return new Promise<{ readonly status: number; readonly reason: string }>((resolve, reject) => {
    const stream: ClientHttp2Stream = session.request(headers);
    let status = 0;
    let text = '';
    const timer = setTimeout(() => stream.destroy(new Error('no answer')), TIMEOUT_MS);
    stream.on('response', ({ ':status': answered }) => {
      status = answered ?? 0;
    });
    stream.setEncoding('utf8');
    stream.on('data', (chunk: string) => {
      text += chunk;
      if (text.length > MAX_RESPONSE_BYTES) stream.destroy(new Error('the response is too long'));
    });
    stream.on('error', reject);
    stream.on('close', () => {
      clearTimeout(timer);
      reject(new Error('the connection ended'));
    });
    stream.on('end', () => {
      if (status === 0) reject(new Error('no answer'));
      else resolve({ status, reason: String(parseObject(text).reason ?? '') });
    });
    stream.end(body);
  });
}

/** Margin before the end of an access token's validity. */
const MARGIN_SECONDS = 60;
const SCOPE = 'https://www.googleapis.com/auth/firebase.messaging';
const GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer';

/** Sends through Firebase Cloud Messaging, HTTP v1 (organization §18). */
export class FcmSender extends RepeatingSender {
  protected readonly name = 'FCM';
  private access: { readonly token: Promise<string>; readonly endsAt: number } | null = null;

  constructor(
    private readonly account: FcmAccount,
    parts: PhoneSenderParts,
  ) {
    super(parts);
  }

  protected async attempt({ token }: PushToken, push: PhonePush): Promise<PhoneResult> {
    const data = Object.fromEntries(Object.entries(push.payload).map(([name, value]) => [name, String(value)]));
    const android = { priority: push.isUrgent ? 'high' : 'normal', ttl: `${TTL_SECONDS}s` };
    const body = JSON.stringify({ message: { token, data, android } });
    const ask = async () => {
      const headers = { Authorization: `Bearer ${await this.accessToken()}`, 'Content-Type': 'application/json' };
      return this.post(`${this.account.url}/v1/projects/${this.account.projectId}/messages:send`, headers, body);
    };
    let { status, fields } = await ask();
    if (status === 401) {
      this.access = null;
      ({ status, fields } = await ask());
    }
    if (status === 200) return SENT_TO_PHONE;
    const { code, text, isOfToken } = errorOf(fields);
    const reason = [status, code, text].filter(Boolean).join(' ');
    if (code === 'UNREGISTERED' || isOfToken) return { outcome: 'gone', reason };
    if (status >= 500) throw new Error(reason);
    const isRefused = status === 400 || code === 'SENDER_ID_MISMATCH';
    return { outcome: isRefused ? 'refused' : 'unreached', reason };
  }

  /** Concurrent notifications share one exchange. @throws Error */
  private accessToken(): Promise<string> {
    const now = this.parts.clock.now();
    if (this.access && now < this.access.endsAt) return this.access.token;
    const token = this.exchange(now);
    // Provisional validity until the response contains the actual one.
    const access = { token: token.then(({ text }) => text), endsAt: now + MARGIN_SECONDS };
    this.access = access;
    token.then(
      ({ seconds }) => {
        if (this.access === access) this.access = { ...access, endsAt: now + seconds - MARGIN_SECONDS };
      },
      () => {
        if (this.access === access) this.access = null;
      },
    );
    return access.token;
  }

  /** Exchanges a signed request for an access token (RFC 7523). */
  private async exchange(now: number): Promise<{ readonly text: string; readonly seconds: number }> {
    const { importPKCS8, SignJWT } = await import('jose');
    const { clientEmail, privateKey, tokenUrl } = this.account;
    const assertion = await new SignJWT({ scope: SCOPE })
      .setProtectedHeader({ alg: 'RS256', typ: 'JWT' })
      .setIssuer(clientEmail)
      .setAudience(tokenUrl)
      .setIssuedAt(now)
      .setExpirationTime(now + 3600)
      .sign(await importPKCS8(privateKey, 'RS256'));
    const body = new URLSearchParams({ grant_type: GRANT, assertion }).toString();
    const { status, fields } = await this.post(tokenUrl, { 'Content-Type': 'application/x-www-form-urlencoded' }, body);
    const { access_token: text, expires_in: seconds, error } = fields;
    if (status !== 200 || typeof text !== 'string') throw new Error(`no access token: ${status} ${error ?? ''}`);
    return { text, seconds: Number.isSafeInteger(seconds) ? (seconds as number) : 3600 };
  }

  private async post(url: string, headers: Readonly<Record<string, string>>, body: string) {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const response = await this.parts.proxy.fetch(url, { method: 'POST', redirect: 'error', signal, headers, body });
    return { status: response.status, fields: parseObject(await readShort(response, MAX_RESPONSE_BYTES)) };
  }
}

type Fields = Readonly<Record<string, unknown>>;

/** Returns the details of an FCM error; `code` is empty for other errors. */
function errorOf(fields: Fields) {
  const { status, message, details } = Object(fields.error) as Fields;
  const all: readonly Fields[] = Array.isArray(details) ? details.map((each) => Object(each)) : [];
  const code = all.find(({ errorCode }) => typeof errorCode === 'string')?.errorCode ?? status ?? '';
  const violations = all.flatMap(({ fieldViolations }) => (Array.isArray(fieldViolations) ? fieldViolations : []));
  const isOfToken = violations.some((each) => Object(each).field === 'message.token');
  return { code: String(code), text: typeof message === 'string' ? message.slice(0, 200) : '', isOfToken };
}

function parseObject(text: string): Fields {
  try {
    return Object(JSON.parse(text)) as Fields;
  } catch {
    return {};
  }
}

/** Sends to each phone through its platform's service. */
export class PhoneSenders implements PhoneSender {
  constructor(private readonly senders: { readonly [K in PushToken['kind']]: PhoneSender | null }) {}

  async send(to: PushToken, push: PhonePush): Promise<PhoneResult> {
    const sender = this.senders[to.kind];
    return sender?.send(to, push) ?? { outcome: 'refused', reason: `${to.kind} is not configured` };
  }
}
