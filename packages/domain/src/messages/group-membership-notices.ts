import type { GroupNotices, MembershipNotice } from '../groups/group-notices.js';
import type { Realm } from '../realms/realm.js';
import type { Transaction } from '../shared/unit-of-work.js';
import { type SystemMessages, silentMention } from './system-messages.js';

/** A direct message to each, by the notification bot (users §12.4). */
export class GroupMembershipNotices implements GroupNotices {
  constructor(private readonly systemMessages: SystemMessages) {}

  async send(tx: Transaction, realm: Realm, { op, actor, by, group, people }: MembershipNotice): Promise<void> {
    const done = op === 'add' ? 'added you to' : 'removed you from';
    const content = `${silentMention(by)} ${done} the group @_*${group.name}*.`;
    // A group may be called anything, such as what links to a channel.
    await this.systemMessages.sendDirectToAll(tx, realm, people, content, { actor });
  }
}
