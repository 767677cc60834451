import type { ReceiverRequest } from '../kernel/delivery-features.js';
import type { RealmId } from '../kernel/ids.js';
import type { EventNeeds, Receiver } from '../kernel/receiver.js';
import type { Snapshot } from '../kernel/snapshot.js';
import type { Repositories } from '../kernel/unit-of-work.js';
import type { CustomEmoji } from './custom-emoji.js';

declare module '../kernel/receiver.js' {
  interface Receiver {
    /** All of the realm, where the event needs them. */
    readonly customEmoji: readonly CustomEmoji[];
  }
  interface EventNeeds {
    /** Some clients get all emoji, whatever changed: too many to be in the event. */
    readonly customEmoji?: true;
  }
}

type CustomEmojiReceiver = Pick<Receiver, 'customEmoji'>;

const NONE: CustomEmojiReceiver = { customEmoji: [] };

export const customEmojiReceiver = (): CustomEmojiReceiver => NONE;

export const needsCustomEmoji = ({ customEmoji }: EventNeeds): boolean => customEmoji === true;

/** In the order of the requests; the same list for all of them. */
export async function loadCustomEmojiReceivers(
  { customEmoji }: Repositories,
  realmId: RealmId,
  requests: readonly ReceiverRequest[],
): Promise<readonly CustomEmojiReceiver[]> {
  if (!requests.some(({ needs }) => needsCustomEmoji(needs))) return requests.map(customEmojiReceiver);
  const all: CustomEmojiReceiver = { customEmoji: await customEmoji.list(realmId) };
  return requests.map(({ needs }) => (needsCustomEmoji(needs) ? all : NONE));
}

export const loadCustomEmoji = ({ caller, repositories }: Snapshot): Promise<readonly CustomEmoji[]> =>
  repositories.customEmoji.list(caller.realmId);
