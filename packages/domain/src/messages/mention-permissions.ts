import type { PermissionHolder } from '../access/is-granted.js';
import type { Group } from '../groups/group.js';
import { canMentionGroup } from '../groups/group-permissions.js';
import { all, allowed, type Decision, denyIf } from '../kernel/permission.js';
import type { Realm } from '../realms/realm.js';
import { hasRealmPermission } from '../realms/realm-permissions.js';

/** With more people than that a wildcard needs a permission (messages §3.2 rows 18–19). */
export const MANY = 15;

/** What a message mentions aloud. */
export interface Mentions {
  /** How many subscribers a channel wildcard reaches; 0 where there is none, or the message is direct. */
  readonly channelSubscribers: number;
  /** How many took part in the topic, the sender included, that a topic wildcard reaches; 0: as above. */
  readonly topicParticipants: number;
  readonly groups: readonly Pick<Group, 'name' | 'permissions'>[];
}

/** Of a message sent, and of one whose text is changed: messages §3.2 rows 18–20, §9.1 row 17. */
export function canMention(
  sender: PermissionHolder,
  realm: Pick<Realm, 'permissions'>,
  { channelSubscribers, topicParticipants, groups }: Mentions,
): Decision {
  return all(
    channelSubscribers > MANY ? canMentionMany(sender, realm, 'channel') : allowed,
    topicParticipants > MANY ? canMentionMany(sender, realm, 'topic') : allowed,
    ...groups.map((group) => canMentionGroup(sender, group)),
  );
}

/** Asked only where a wildcard reaches many (messages §3.2 rows 18–19). */
export function canMentionMany(
  actor: PermissionHolder,
  realm: Pick<Realm, 'permissions'>,
  whom: 'channel' | 'topic',
): Decision {
  return denyIf(
    !hasRealmPermission(actor, realm, 'canMentionManyUsers'),
    whom === 'channel' ? 'CHANNEL_WILDCARD_NOT_ALLOWED' : 'TOPIC_WILDCARD_NOT_ALLOWED',
    `You do not have permission to use ${whom} wildcard mentions in this ${whom}.`,
  );
}
