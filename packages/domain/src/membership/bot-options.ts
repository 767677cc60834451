import './bot-errors.js';
import type { ChannelId, RealmId, UserId } from '../kernel/ids.js';

/** How messages are sent to an outgoing webhook. */
export type WebhookInterface = 'generic' | 'slack';
export const WEBHOOK_INTERFACES: readonly WebhookInterface[] = ['generic', 'slack'];

/** The events of an outgoing webhook. */
export interface OutgoingWebhook {
  /** Empty: it gets none. */
  readonly url: string;
  readonly interface: WebhookInterface;
  /** Sent with each message, so that whoever gets it knows by whom it was sent. */
  readonly token: string;
}

/** What bots have beside what users have, and beside the channel that they send to by default, which is the user's. */
export interface BotOptions {
  /** Of whose messages its queues are by default; null: of all it receives. */
  readonly eventsChannelId: ChannelId | null;
  /** Whether its queues are of all public channels by default. */
  readonly allPublicChannels: boolean;
  /** Null for bots of other kinds. */
  readonly webhook: OutgoingWebhook | null;
}

export const NO_BOT_OPTIONS: BotOptions = { eventsChannelId: null, allPublicChannels: false, webhook: null };

/** Of one owner, deactivated ones too. */
export const MAX_BOTS = 1000;

declare module '../kernel/unit-of-work.js' {
  interface RepositoryMap {
    bots: [reads: BotReads, repository: BotRepository];
  }
}

export interface BotReads {
  /** Each of these has an entry: `NO_BOT_OPTIONS` where nothing was ever stored. */
  listOptions(realmId: RealmId, botIds: readonly UserId[]): Promise<ReadonlyMap<UserId, BotOptions>>;
  /** Deactivated ones too; ascending. */
  listOwnedIds(realmId: RealmId, ownerId: UserId): Promise<readonly UserId[]>;
}

/** Every implementation passes bot-repository.contract.ts. */
export interface BotRepository extends BotReads {
  putOptions(realmId: RealmId, botId: UserId, options: BotOptions): Promise<void>;
}
