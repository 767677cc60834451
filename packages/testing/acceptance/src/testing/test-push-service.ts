import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { PushServiceAccount } from '@parley/node-adapters';
import type { Wire } from './expectations.js';

/** Payload of an app, only Base64-encoded here, because decryption is the real service's task. */
export interface Registration {
  readonly token: string;
  readonly token_kind: 'fcm' | 'apns';
  readonly timestamp: number;
  readonly ios_app_id?: string;
}

export const sealed = (registration: Registration): string =>
  Buffer.from(JSON.stringify(registration)).toString('base64');

export const tokenIdOf = (token: string): string =>
  createHash('sha256').update(token).digest().subarray(0, 8).toString('base64');

export const PUBLIC_KEY = 'mm4F/3WLqECY637NulC5j/ZeHkmpwmtlfIxwt8MfREM=';

const ORG_ID = '6cde5f7a-1f7e-4978-9716-49f69ebfc9fe';
const ORG_KEY = 'org-key';

interface Call {
  readonly path: string;
  readonly authorization: string | undefined;
  readonly userAgent: string | undefined;
  readonly fields: Wire;
}

const refusal = (status: number, code: string, msg: string) => ({ status, body: { result: 'error', code, msg } });

/** Push service on its own port; validates requests like the real service (organization §12.3, §17). */
export class TestPushService {
  /** All requests in order. */
  readonly calls: Call[] = [];
  /** Token ids that are no longer reachable. */
  readonly goneTokenIds: string[] = [];
  /** Legacy Android tokens that are no longer reachable. */
  readonly goneTokens: string[] = [];
  /** Status reported for every organization. */
  status = { can_push: true, expected_end_timestamp: null as number | null };
  /** Fixed response instead of the normal one; null for normal operation. */
  failure: { readonly status: number; readonly body: object } | null = null;
  /** False if organizations must be registered first. */
  knowsRealms = true;
  /** Current time in seconds. */
  now = 0;
  private readonly realms = new Set<string>();
  private readonly tokens = new Set<string>();
  private readonly waiting: (() => void)[] = [];
  private isHeld = false;

  private constructor(private readonly server: Server) {}

  static async start(): Promise<TestPushService> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const service = new TestPushService(server);
    server.on('request', (request, response) => void service.reply(request, response));
    return service;
  }

  get account(): PushServiceAccount {
    const { port } = this.server.address() as AddressInfo;
    return { url: `http://127.0.0.1:${port}`, orgId: ORG_ID, orgKey: ORG_KEY };
  }

  /** Delays all responses until `release`. */
  hold(): void {
    this.isHeld = true;
  }

  release(): void {
    this.isHeld = false;
    for (const resume of this.waiting.splice(0)) resume();
  }

  /** Requires organizations to register again. */
  forgetRealms(): void {
    this.knowsRealms = false;
    this.realms.clear();
  }

  callsOf(path: string): readonly Call[] {
    return this.calls.filter((call) => call.path === path);
  }

  close(): Promise<void> {
    this.release();
    this.server.closeAllConnections();
    return new Promise((resolve) => {
      this.server.close(() => resolve());
    });
  }

  private async reply(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    const isJson = request.headers['content-type'] === 'application/json';
    const { authorization, 'user-agent': userAgent } = request.headers;
    const path = request.url!.replace('/api/v1/remotes/', '');
    const fields = isJson ? JSON.parse(body) : Object.fromEntries(new URLSearchParams(body));
    this.calls.push({ path, authorization, userAgent, fields });
    if (this.isHeld) await new Promise<void>((resolve) => this.waiting.push(resolve));
    const { status, body: reply } = this.failure ?? this.judge(path, authorization, fields);
    response.writeHead(status, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify(reply));
  }

  private judge(path: string, authorization: string | undefined, fields: Wire): { status: number; body: object } {
    if (authorization !== `Basic ${Buffer.from(`${ORG_ID}:${ORG_KEY}`).toString('base64')}`) {
      return refusal(401, 'INVALID_ZULIP_SERVER', 'Zulip server auth failure');
    }
    const success = (more: object = {}) => ({ status: 200, body: { result: 'success', msg: '', ...more } });
    if (path === 'server/analytics') {
      const uuids: string[] = JSON.parse(fields.realms).map(({ uuid }: Wire) => uuid);
      for (const uuid of uuids) this.realms.add(uuid);
      return success({ realms: Object.fromEntries(uuids.map((uuid) => [uuid, this.status])) });
    }
    if (!this.knowsRealms && !this.realms.has(fields.realm_uuid)) {
      return refusal(403, 'MISSING_REMOTE_REALM', 'Organization not registered');
    }
    const name = `${fields.user_uuid} ${fields.token_kind} ${fields.token}`;
    switch (path) {
      case 'push/e2ee/register':
        return this.judgeRegistration(fields) ?? success();
      case 'push/e2ee/notify':
        return success({
          apple_successfully_sent_count: 0,
          android_successfully_sent_count: fields.push_requests.length,
          delete_token_ids: this.goneTokenIds,
          realm_push_status: this.status,
        });
      case 'push/notify':
        return success({
          total_android_devices: fields.android_devices.length,
          total_apple_devices: fields.apple_devices.length,
          deleted_devices: { android_devices: this.goneTokens, apple_devices: [] },
          realm: this.status,
        });
      case 'push/register':
        this.tokens.add(name);
        return success();
      case 'push/unregister':
        return this.tokens.delete(name) ? success() : refusal(400, 'BAD_REQUEST', 'Token does not exist');
      case 'push/test_notification':
        return this.tokens.has(name)
          ? success()
          : refusal(400, 'INVALID_REMOTE_PUSH_DEVICE_TOKEN', 'Device not recognized by the push bouncer');
      default:
        return refusal(404, 'BAD_REQUEST', 'Not found');
    }
  }

  private judgeRegistration({ bouncer_public_key, encrypted_push_registration, token_id }: Wire) {
    if (bouncer_public_key !== PUBLIC_KEY) {
      return refusal(400, 'INVALID_BOUNCER_PUBLIC_KEY', 'Invalid bouncer_public_key');
    }
    const invalid = refusal(400, 'BAD_REQUEST', 'Invalid encrypted_push_registration');
    let registration: Registration;
    try {
      registration = JSON.parse(Buffer.from(encrypted_push_registration, 'base64').toString());
    } catch {
      return invalid;
    }
    const hasApp = registration.ios_app_id !== undefined;
    if (hasApp !== (registration.token_kind === 'apns') || tokenIdOf(registration.token) !== token_id) return invalid;
    return this.now - registration.timestamp > 86_400 ? refusal(400, 'REQUEST_EXPIRED', 'Request expired') : null;
  }
}
