import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Meeting, MeetingLinks } from '@parley/domain/realms';

const LINK = /^([A-Za-z0-9_-]{1,10000})\.([A-Za-z0-9_-]{43})$/;

/** Meetings as JSON with an HMAC of the server's secret. */
export class HmacMeetingLinks implements MeetingLinks {
  private readonly key: Buffer;

  constructor(secret: string) {
    this.key = createHmac('sha256', secret).update('parley: links of meetings').digest();
  }

  sign({ realmId, key, name, isVoiceOnly, moderatorId }: Meeting): string {
    const text = Buffer.from(JSON.stringify({ realmId, key, name, isVoiceOnly, moderatorId })).toString('base64url');
    return `${text}.${this.signatureOf(text).toString('base64url')}`;
  }

  read(link: string): Meeting | null {
    const [, text, signature] = LINK.exec(link) ?? [];
    if (text === undefined || signature === undefined) return null;
    if (!timingSafeEqual(Buffer.from(signature, 'base64url'), this.signatureOf(text))) return null;
    return JSON.parse(Buffer.from(text, 'base64url').toString('utf8')) as Meeting;
  }

  private signatureOf(text: string): Buffer {
    return createHmac('sha256', this.key).update(text).digest();
  }
}
