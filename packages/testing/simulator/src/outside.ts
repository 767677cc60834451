import type { Email, Mailer } from '@parley/domain/access';
import type { WebhookClient, WebhookRequest, WebhookResponse } from '@parley/domain/membership';
import type { PushDelivery, PushNotice, PushRecipient, PushService, PushToken } from '@parley/domain/push';
import type { Message, Person } from './model.js';

export const BOT_URL = 'https://bot.example.com/';
export const tokenOf = (person: Person): string => `phone-${person}`;
export const addressOf = (person: Person): string => `p${person}@example.com`;
export const deliveryOf = (kind: Delivery['kind'], person: Person, number: number): string =>
  `${kind} to p${person} about text ${number}`;

/** Notification that a phone must show. */
export interface Awaited {
  readonly person: Person;
  readonly message: Message;
  /** Text of the message when it was sent. */
  readonly number: number;
  readonly failures: number;
}

/** Something that left the server: an email, a notification of a phone, or a request to a bot. */
export interface Delivery {
  readonly kind: 'email' | 'push' | 'bot';
  /** Email address, token of a phone, or URL of a bot. */
  readonly to: string;
  readonly text: string;
}

const NOTHING_GONE = { goneTokenIds: [], goneTokens: [], unreached: [], status: null };

/** Mail server, push service and bots, which receive what the server sends at once. */
export class Outside implements Mailer, WebhookClient, PushService {
  /** Called with each delivery. Returns the response of a bot. */
  onDelivery: (delivery: Delivery) => string = () => '';

  async send({ to, subject, text, html }: Email): Promise<void> {
    this.onDelivery({ kind: 'email', to, text: [subject, text, html].join('\n') });
  }

  async post(url: string, { body }: WebhookRequest): Promise<WebhookResponse> {
    return { status: 200, text: this.onDelivery({ kind: 'bot', to: url, text: body.toString() }) };
  }

  async sendLegacy(_: PushRecipient, tokens: readonly PushToken[], notice: PushNotice): Promise<PushDelivery> {
    if (notice.type === 'message') {
      const text = Object.values(notice.text).join('\n');
      for (const { token } of tokens) this.onDelivery({ kind: 'push', to: token, text });
    }
    return { ...NOTHING_GONE, sent: tokens.length };
  }

  async sendEncrypted(): Promise<PushDelivery> {
    return { ...NOTHING_GONE, sent: 0 };
  }

  tokenIdOf(token: string): string {
    return token;
  }

  async registerEncrypted(): Promise<null> {
    return null;
  }

  async registerToken(): Promise<void> {}

  async unregisterToken(): Promise<void> {}

  async sendTest(): Promise<void> {}

  async askAbout(): Promise<ReadonlyMap<string, never>> {
    return new Map<string, never>();
  }
}
