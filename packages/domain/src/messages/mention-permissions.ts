import { type Grantee, hasRealmPermission } from '../groups/group-permissions.js';
import type { Realm } from '../realms/realm.js';
import { type Decision, denyIf } from '../shared/permission.js';

/** Asked only where a wildcard reaches many (messages §3.2 rows 18–19). */
export function canMentionMany(actor: Grantee, realm: Pick<Realm, 'permissions'>, whom: 'channel' | 'topic'): Decision {
  return denyIf(
    !hasRealmPermission(actor, realm, 'canMentionManyUsers'),
    whom === 'channel' ? 'CHANNEL_WILDCARD_NOT_ALLOWED' : 'TOPIC_WILDCARD_NOT_ALLOWED',
    `You do not have permission to use ${whom} wildcard mentions in this ${whom}.`,
  );
}
