import type { ChannelId, UserId } from '../kernel/ids.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import type { ParsedMarkdown } from '../markdown/markdown.js';
import type { Author } from '../markdown/text-renderer.js';
import type { Realm } from '../realms/realm.js';
import type { User } from '../users/user.js';
import type { Channel } from './channel.js';

/** Into a topic of a channel, which may be archived. */
export interface ChannelNotice {
  readonly channel: Channel;
  readonly topic: string;
  readonly content: string;
  /** For these it is read already. */
  readonly readFor?: readonly UserId[];
  /** For everybody. */
  readonly isReadByDefault?: boolean;
  /** Subscribers who get it unread all the same. */
  readonly unreadFor?: readonly UserId[];
  /** The content, or what it quotes, parsed before the unit. */
  readonly ahead?: ParsedMarkdown;
}

/** What the notification bot says when something happens to channels. Runs inside the unit of what happened. */
export interface NotificationBot {
  sendToChannel(tx: Transaction, realm: Realm, notice: ChannelNotice & { readonly author: Author }): Promise<void>;

  /** Each into its channel; a text that is the same in several is made into a message once. */
  postAll(tx: Transaction, realm: Realm, author: Author, notices: readonly ChannelNotice[]): Promise<void>;

  /** A notice that quotes what somebody typed, before the unit. Undefined where it cannot be rendered. */
  parseNotice(realm: Realm, content: string): Promise<ParsedMarkdown | undefined>;

  sendDirect(tx: Transaction, realm: Realm, person: User, content: string, author: Author): Promise<void>;
}

/** A channel that the organization's settings name; null when unset or archived. */
export async function configuredChannel(tx: Transaction, realm: Realm, id: number | null): Promise<Channel | null> {
  const channel = id === null ? null : await tx.channels.find(realm.id, id as ChannelId);
  return channel && !channel.isArchived ? channel : null;
}
