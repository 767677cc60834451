import { createHmac, timingSafeEqual } from 'node:crypto';
import type { FileTicket, FileTokens } from '@parley/domain/files';
import type { FileId, RealmId } from '@parley/domain/kernel';

const TOKEN = /^(\d{1,15})-(\d{1,15})-(\d{1,15})-([A-Za-z0-9_-]{43})$/;

/** Tickets in plain text with an HMAC of the server's secret. */
export class HmacFileTokens implements FileTokens {
  private readonly key: Buffer;

  constructor(secret: string) {
    this.key = createHmac('sha256', secret).update('parley: temporary addresses of files').digest();
  }

  sign({ realmId, fileId, expiresAt }: FileTicket): string {
    const ticket = `${realmId}-${fileId}-${expiresAt}`;
    return `${ticket}-${this.signatureOf(ticket).toString('base64url')}`;
  }

  verify(token: string): FileTicket | null {
    const [, realmId, fileId, expiresAt, signature] = TOKEN.exec(token) ?? [];
    if (signature === undefined) return null;
    const given = Buffer.from(signature, 'base64url');
    const expected = this.signatureOf(`${realmId}-${fileId}-${expiresAt}`);
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) return null;
    return { realmId: Number(realmId) as RealmId, fileId: Number(fileId) as FileId, expiresAt: Number(expiresAt) };
  }

  private signatureOf(ticket: string): Buffer {
    return createHmac('sha256', this.key).update(ticket).digest();
  }
}
