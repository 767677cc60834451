import { createDecipheriv, createECDH, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** Push service of a browser vendor, with one browser that decrypts. */
export class TestBrowserPush {
  status = 201;
  // biome-ignore lint/suspicious/noExplicitAny: tests say what they expect by their assertions.
  readonly received: { readonly headers: IncomingMessage['headers']; readonly payload: any }[] = [];
  readonly auth = randomBytes(16);
  private readonly pair = createECDH('prime256v1');
  private server!: Server;

  async start(): Promise<void> {
    this.pair.generateKeys();
    this.server = createServer(async (request, response) => {
      const body = await buffer(request);
      this.received.push({ headers: request.headers, payload: JSON.parse(this.decrypt(body)) });
      response.writeHead(this.status).end();
    });
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  subscription(name: string) {
    const p256dh = this.pair.getPublicKey().toString('base64url');
    return { endpoint: `${this.origin}/${name}`, p256dh, auth: this.auth.toString('base64url') };
  }

  close(): Promise<void> {
    this.server.closeAllConnections();
    return new Promise((resolve) => this.server.close(() => resolve()));
  }

  /** Decrypts one record of `aes128gcm` (RFC 8188, RFC 8291). */
  private decrypt(body: Buffer): string {
    const salt = body.subarray(0, 16);
    const keyLength = body[20]!;
    const sender = body.subarray(21, 21 + keyLength);
    const sealed = body.subarray(21 + keyLength);
    const prk = createHmac('sha256', this.auth).update(this.pair.computeSecret(sender)).digest();
    const info = Buffer.concat([Buffer.from('WebPush: info\0'), this.pair.getPublicKey(), sender, Buffer.from([1])]);
    const secret = createHmac('sha256', prk).update(info).digest();
    const derive = (label: string, length: number) =>
      Buffer.from(hkdfSync('sha256', secret, salt, `Content-Encoding: ${label}\0`, length));
    const decipher = createDecipheriv('aes-128-gcm', derive('aes128gcm', 16), derive('nonce', 12));
    decipher.setAuthTag(sealed.subarray(-16));
    const text = Buffer.concat([decipher.update(sealed.subarray(0, -16)), decipher.final()]);
    return text.subarray(0, text.lastIndexOf(2)).toString();
  }
}
