import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { DomainError } from '@parley/domain/kernel';
import type { Meeting, MeetingLinks, MeetingServer, Participant } from '@parley/domain/realms';
import { readShort } from './read-short.js';

/** Who this server is to a BigBlueButton server. */
export interface BigBlueButtonAccount {
  /** Where it is, without a slash at the end: `https://bbb.example.com/bigbluebutton`. */
  readonly url: string;
  /** The shared secret: what requests are signed with. */
  readonly secret: string;
}

/** In which the server has to answer: somebody's browser waits. */
const TIMEOUT_MS = 5000;
/** What it answers is short; more is no answer. */
const MAX_ANSWER_BYTES = 100_000;

type Query = Readonly<Record<string, string>>;

/** A BigBlueButton server as its API has it: addresses that are signed with a shared secret (organization §20). */
export class BigBlueButton implements MeetingServer {
  constructor(private readonly account: BigBlueButtonAccount) {}

  async join(meeting: Meeting, { fullName, isModerator }: Participant): Promise<string> {
    const meetingID = meeting.key;
    const answer = await this.ask(
      this.signed('create', { meetingID, name: meeting.name, lockSettingsDisableCam: String(meeting.isVoiceOnly) }),
    );
    if (fieldOf(answer, 'messageKey') === 'checksumError') {
      throw new DomainError('MEETING_SERVER_DENIED', 'Error authenticating to the BigBlueButton server.');
    }
    const createTime = fieldOf(answer, 'createTime');
    if (fieldOf(answer, 'returncode') !== 'SUCCESS' || createTime === null) {
      throw new DomainError('MEETING_SERVER_FAILED', 'BigBlueButton server returned an unexpected error.');
    }
    // With the time, the address is good for the meeting that is open now, and for no later one of the same key.
    return this.signed('join', { meetingID, role: isModerator ? 'MODERATOR' : 'VIEWER', fullName, createTime });
  }

  /** The checksum is of the query as it is sent: one that no parser of addresses writes otherwise, an apostrophe for example. */
  private signed(call: 'create' | 'join', query: Query): string {
    const { url, secret } = this.account;
    const text = new URLSearchParams(query).toString();
    const checksum = createHash('sha256').update(`${call}${text}${secret}`).digest('hex');
    return `${url}/api/${call}?${text}&checksum=${checksum}`;
  }

  private async ask(url: string): Promise<string> {
    try {
      const response = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(TIMEOUT_MS) });
      if (response.ok) return await readShort(response, MAX_ANSWER_BYTES);
      await response.body?.cancel();
    } catch {
      // Nobody needs to know more than that it cannot be reached.
    }
    throw new DomainError('MEETING_SERVER_UNREACHABLE', 'Error connecting to the BigBlueButton server.');
  }
}

/** Of the XML that `create` answers: flat, each field once, and those that are read are words or numbers. Null: it is not there. */
const fieldOf = (xml: string, name: 'returncode' | 'messageKey' | 'createTime'): string | null =>
  new RegExp(`<${name}>(\\w{1,100})</${name}>`).exec(xml)?.[1] ?? null;

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
