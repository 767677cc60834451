import { createPublicKey, diffieHellman, generateKeyPairSync } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import { createServer as createHttp2Server, type Http2Server, type ServerHttp2Session } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { hsalsa, xsalsa20poly1305 } from '@noble/ciphers/salsa.js';
import { blake2b } from '@noble/hashes/blake2.js';
import { type ApnsAccount, type FcmAccount, SealedBoxes } from '@parley/node-adapters';
import { decodeJwt, jwtVerify } from 'jose';
import type { Wire } from './expectations.js';

/** Notification as received by a service. */
export interface Arrival {
  readonly token: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly fields: Wire;
}

interface Refusal {
  readonly status: number;
  readonly body: object;
}

const listen = async (server: Server | Http2Server): Promise<string> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

/** Apple's service: an HTTP/2 server that verifies each request's signature. */
export class TestApns {
  readonly arrivals: Arrival[] = [];
  /** Claims of the signatures, without duplicates. */
  readonly signatures: Wire[] = [];
  /** Responses by token; null applies to all tokens. */
  readonly refusals = new Map<string | null, Refusal[]>();
  /** Number of connections. */
  connections = 0;
  /** True to accept requests without ever responding. */
  isSilent = false;
  private readonly keys = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  private readonly sessions = new Set<ServerHttp2Session>();
  private readonly texts = new Set<string>();
  private url = '';

  private constructor(private readonly server: Http2Server) {}

  static async start(): Promise<TestApns> {
    const server = createHttp2Server();
    const service = new TestApns(server);
    server.on('session', (session) => {
      service.connections++;
      service.sessions.add(session);
      session.on('close', () => service.sessions.delete(session));
    });
    server.on('stream', async (stream, headers) => {
      stream.on('error', () => {});
      const body = await text(stream);
      const { status, body: answer } = await service.answer(headers, body);
      if (service.isSilent) return;
      stream.respond({ ':status': status });
      stream.end(answer && JSON.stringify(answer));
    });
    service.url = await listen(server);
    return service;
  }

  get account(): ApnsAccount {
    const key = this.keys.privateKey.export({ format: 'pem', type: 'pkcs8' }) as string;
    return { key, keyId: 'KEY1234567', teamId: 'TEAM123456', url: this.url };
  }

  /** Closes all connections, like a restart of the service. */
  disconnect(): void {
    for (const session of this.sessions) session.destroy();
  }

  async close(): Promise<void> {
    this.disconnect();
    await new Promise<void>((resolve) => this.server.close(() => resolve()));
  }

  private async answer(headers: Readonly<Record<string, unknown>>, body: string) {
    const [, token = ''] = /^\/3\/device\/([\da-f]+)$/i.exec(String(headers[':path'])) ?? [];
    const signature = String(headers.authorization).replace(/^bearer /, '');
    try {
      const { payload, protectedHeader } = await jwtVerify(signature, this.keys.publicKey);
      if (!this.texts.has(signature)) this.signatures.push({ ...protectedHeader, ...payload });
      this.texts.add(signature);
    } catch {
      return { status: 403, body: { reason: 'InvalidProviderToken' } };
    }
    const refusal = (this.refusals.get(token) ?? this.refusals.get(null))?.shift();
    if (refusal) return refusal;
    this.arrivals.push({ token, headers, fields: JSON.parse(body) });
    return { status: 200, body: undefined };
  }
}

/** Google's service, which exchanges signed requests for access tokens. */
export class TestFcm {
  readonly arrivals: Arrival[] = [];
  /** Claims of the access token requests. */
  readonly exchanges: Wire[] = [];
  readonly refusals = new Map<string | null, Refusal[]>();
  private readonly keys = generateKeyPairSync('rsa', { modulusLength: 2048 });
  private access = 0;
  private url = '';

  private constructor(private readonly server: Server) {}

  static async start(): Promise<TestFcm> {
    const server = createServer();
    const service = new TestFcm(server);
    server.on('request', async (request, response) => {
      const body = await text(request);
      const { status, body: answer } =
        request.url === '/token'
          ? await service.exchange(body)
          : service.answer(request.url!, request.headers.authorization, body);
      response.writeHead(status, { 'Content-Type': 'application/json' });
      response.end(JSON.stringify(answer));
    });
    service.url = await listen(server);
    return service;
  }

  get account(): FcmAccount {
    const privateKey = this.keys.privateKey.export({ format: 'pem', type: 'pkcs8' }) as string;
    const { url } = this;
    return { projectId: 'demo', clientEmail: 'push@demo.example', privateKey, tokenUrl: `${url}/token`, url };
  }

  /** Makes all access tokens invalid. */
  revoke(): void {
    this.access++;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise<void>((resolve) => this.server.close(() => resolve()));
  }

  private async exchange(body: string) {
    const { assertion, grant_type } = Object.fromEntries(new URLSearchParams(body));
    // Tests use their own clock.
    const currentDate = new Date(decodeJwt(assertion!).iat! * 1000);
    const options = { audience: this.account.tokenUrl, issuer: this.account.clientEmail, currentDate };
    const { payload } = await jwtVerify(assertion!, createPublicKey(this.keys.privateKey), options);
    this.exchanges.push({ ...payload, grant_type });
    return { status: 200, body: { access_token: `access ${this.access}`, expires_in: 3599, token_type: 'Bearer' } };
  }

  private answer(url: string, authorization: string | undefined, body: string) {
    if (url !== '/v1/projects/demo/messages:send') return fcmError(404, 'NOT_FOUND');
    if (authorization !== `Bearer access ${this.access}`) return fcmError(401, 'UNAUTHENTICATED');
    const { message } = JSON.parse(body) as Wire;
    const refusal = (this.refusals.get(message.token) ?? this.refusals.get(null))?.shift();
    if (refusal) return refusal;
    this.arrivals.push({ token: message.token, headers: {}, fields: message });
    return { status: 200, body: { name: 'projects/demo/messages/1' } };
  }
}

/** Content of the file that Google issues for a service account. */
export const credentialsOf = ({ projectId, clientEmail, privateKey, tokenUrl }: FcmAccount): string =>
  JSON.stringify({ project_id: projectId, client_email: clientEmail, private_key: privateKey, token_uri: tokenUrl });

export const fcmError = (status: number, errorCode: string, field?: string): Refusal => ({
  status,
  body: {
    error: {
      ...{ code: status, status: errorCode, message: `It failed: ${errorCode}` },
      details: [
        { '@type': 'type.googleapis.com/google.firebase.fcm.v1.FcmError', errorCode },
        ...(field ? [{ fieldViolations: [{ field }] }] : []),
      ],
    },
  },
});

/** Private key of an app vendor, generated by libsodium. */
export const PRIVATE_KEY = 'd3iPGgzqABomMdrl0F29BiAI1bMPULnim+sqeCIokAQ=';
export const OWN_PUBLIC_KEY = new SealedBoxes([PRIVATE_KEY]).publicKeys[0]!;

/** Decrypts a payload like an app. */
export function decrypted({ encrypted_data }: Wire, key: Buffer): Wire {
  const bytes = Buffer.from(encrypted_data, 'base64');
  const plain = xsalsa20poly1305(key, bytes.subarray(0, 24)).decrypt(bytes.subarray(24));
  return JSON.parse(Buffer.from(plain).toString());
}

const wordsOf = (bytes: Buffer): Uint32Array =>
  Uint32Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readUInt32LE(index * 4));

/** Encrypts like libsodium's `crypto_box_seal`, with which apps encrypt their tokens. */
export function sealedBox(text: string, publicKey = OWN_PUBLIC_KEY): string {
  const sender = generateKeyPairSync('x25519');
  const bytesOf = (key: typeof sender.publicKey) => key.export({ format: 'der', type: 'spki' }).subarray(-32);
  const head = Buffer.from('302a300506032b656e032100', 'hex');
  const raw = Buffer.from(publicKey, 'base64');
  const receiver = createPublicKey({ key: Buffer.concat([head, raw]), format: 'der', type: 'spki' });
  const shared = diffieHellman({ privateKey: sender.privateKey, publicKey: receiver });
  const key = new Uint32Array(8);
  hsalsa(wordsOf(Buffer.from('expand 32-byte k')), wordsOf(shared), new Uint32Array(4), key);
  const own = bytesOf(sender.publicKey);
  const nonce = blake2b(Buffer.concat([own, raw]), { dkLen: 24 });
  const box = xsalsa20poly1305(new Uint8Array(key.buffer), nonce).encrypt(Buffer.from(text));
  return Buffer.concat([own, box]).toString('base64');
}
