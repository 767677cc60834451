import type { ChannelId, RealmId, UserId } from '../kernel/ids.js';
import type { Channel } from './channel.js';

/** For whom mail to a channel was asked for, and whom what comes by it is from (channels §4.16). */
export interface ChannelAddressKey {
  readonly realmId: RealmId;
  readonly channelId: ChannelId;
  readonly creatorId: UserId;
  readonly senderId: UserId;
}

/** What tells the mail for one of them from all others: 32 hexadecimal digits. */
export interface ChannelAddressReads {
  findToken(key: ChannelAddressKey): Promise<string | null>;
}

/** Every implementation passes channel-address-repository.contract.ts. */
export interface ChannelAddressRepository extends ChannelAddressReads {
  /** There is none yet. */
  add(key: ChannelAddressKey, token: string): Promise<void>;
}

/** Where the token stands in an address of the gateway. */
export const MAIL_TOKEN_PLACE = '%s';
/** Whatever else is in the mail, its sender is shown with it. */
const OPTION = 'show-sender';

/** Of the gateway whose pattern this is. A name that letters of an address cannot spell is left out. */
export function channelAddress(pattern: string, channel: Pick<Channel, 'name'>, token: string): string {
  const slug = slugOf(channel.name);
  return pattern.replace(MAIL_TOKEN_PLACE, () => `${slug === '' ? '' : `${slug}.`}${token}.${OPTION}`);
}

/** Empty unless it has a sign for each of the name's. */
function slugOf(name: string): string {
  const joined = name.replace(/[^\p{L}\p{N}_]+/gu, '-');
  const slug = joined
    .normalize('NFKD')
    .replace(/[^a-z0-9_-]/gi, '')
    .toLowerCase()
    .replace(/^[-_]+|[-_]+$/g, '');
  return slug.length === joined.length ? slug : '';
}

declare module '../kernel/unit-of-work.js' {
  interface RepositoryMap {
    channelAddresses: [reads: ChannelAddressReads, repository: ChannelAddressRepository];
  }
}
