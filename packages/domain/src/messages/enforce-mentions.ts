import type { Actor } from '../access/actor.js';
import { enforce } from '../kernel/permission.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import type { Realm } from '../realms/realm.js';
import type { User } from '../users/user.js';
import { canMention } from './mention-permissions.js';
import { type DestinationNamed, topicParticipants } from './post-message.js';
import type { RenderedText } from './render-message.js';

/**
 * Asks for the rights that only what was rendered can tell, when a message is sent and when its text is changed.
 * `sender` is the message's, and `actor` the sender's rights (messages §9.1 row 17). Counts only whom a wildcard names.
 * @throws DomainError CHANNEL_WILDCARD_NOT_ALLOWED, TOPIC_WILDCARD_NOT_ALLOWED, CANNOT_MENTION_GROUP
 */
export async function enforceMentions(
  tx: Transaction,
  realm: Realm,
  actor: Actor,
  sender: User,
  destination: DestinationNamed,
  rendered: RenderedText,
): Promise<void> {
  const { kind } = destination;
  enforce(
    canMention(actor, realm, {
      channelSubscribers:
        kind === 'channel' && rendered.mentionsChannelWildcard
          ? await tx.channels.countSubscribers(realm.id, destination.channel.id)
          : 0,
      topicParticipants:
        kind === 'channel' && rendered.mentionsTopicWildcard
          ? (await topicParticipants(tx, { destination, sender })).length
          : 0,
      groups: rendered.mentionedGroups,
    }),
  );
}
