import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { DomainError } from '@parley/domain/kernel';
import type { Meeting, MeetingLinks, MeetingServer, Participant } from '@parley/domain/realms';
import { OutgoingProxy } from './outgoing-proxy.js';
import { readShort } from './read-short.js';

/** Credentials for a BigBlueButton server. */
export interface BigBlueButtonAccount {
  /** Base URL without a trailing slash: `https://bbb.example.com/bigbluebutton`. */
  readonly url: string;
  /** Shared secret that signs requests. */
  readonly secret: string;
}

/** Response timeout, kept short because a browser is waiting. */
const TIMEOUT_MS = 5000;
/** Maximum response size; valid responses are short. */
const MAX_RESPONSE_BYTES = 100_000;

type Query = Readonly<Record<string, string>>;

/** BigBlueButton server. Its API uses URLs signed with a shared secret (organization §20). */
export class BigBlueButton implements MeetingServer {
  constructor(
    private readonly account: BigBlueButtonAccount,
    private readonly proxy: Pick<OutgoingProxy, 'fetch'> = new OutgoingProxy(),
  ) {}

  async join(meeting: Meeting, { fullName, isModerator }: Participant): Promise<string> {
    const meetingID = meeting.key;
    const response = await this.ask(
      this.signed('create', { meetingID, name: meeting.name, lockSettingsDisableCam: String(meeting.isVoiceOnly) }),
    );
    if (fieldOf(response, 'messageKey') === 'checksumError') {
      throw new DomainError('MEETING_SERVER_DENIED', 'Error authenticating to the BigBlueButton server.');
    }
    const createTime = fieldOf(response, 'createTime');
    if (fieldOf(response, 'returncode') !== 'SUCCESS' || createTime === null) {
      throw new DomainError('MEETING_SERVER_FAILED', 'BigBlueButton server returned an unexpected error.');
    }
    // The creation time restricts the URL to the current meeting; a later meeting with the same key rejects the URL.
    return this.signed('join', { meetingID, role: isModerator ? 'MODERATOR' : 'VIEWER', fullName, createTime });
  }

  /** Signs the exact query string that is sent, so URL parsers must not re-encode it (apostrophes, for example). */
  private signed(call: 'create' | 'join', query: Query): string {
    const { url, secret } = this.account;
    const text = new URLSearchParams(query).toString();
    const checksum = createHash('sha256').update(`${call}${text}${secret}`).digest('hex');
    return `${url}/api/${call}?${text}&checksum=${checksum}`;
  }

  private async ask(url: string): Promise<string> {
    try {
      const response = await this.proxy.fetch(url, { redirect: 'error', signal: AbortSignal.timeout(TIMEOUT_MS) });
      if (response.ok) return await readShort(response, MAX_RESPONSE_BYTES);
      await response.body?.cancel();
    } catch {
      // The caller only learns that the server is unreachable.
    }
    throw new DomainError('MEETING_SERVER_UNREACHABLE', 'Error connecting to the BigBlueButton server.');
  }
}

/**
 * Returns a field of the XML response to `create`; null if missing. The XML is flat, and all fields used are words or
 * numbers.
 */
const fieldOf = (xml: string, name: 'returncode' | 'messageKey' | 'createTime'): string | null =>
  new RegExp(`<${name}>(\\w{1,100})</${name}>`).exec(xml)?.[1] ?? null;

const LINK = /^([A-Za-z0-9_-]{1,10000})\.([A-Za-z0-9_-]{43})$/;

/** Encodes meetings as JSON with an HMAC of the server's secret. */
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
