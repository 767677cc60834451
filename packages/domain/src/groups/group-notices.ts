import type { Actor } from '../access/actor.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import type { Realm } from '../realms/realm.js';
import type { User } from '../users/user.js';
import type { Group } from './group.js';

export interface MembershipNotice {
  readonly op: 'add' | 'remove';
  /** Whoever did it; names in the message lead to what they may see. */
  readonly actor: Actor;
  readonly by: Pick<User, 'id' | 'fullName'>;
  readonly group: Pick<Group, 'id' | 'name'>;
  /** Those who are notified. */
  readonly people: readonly User[];
}

/** Notifies people by message that somebody put them into a group, or took them out (users §12.4). Runs inside the unit. */
export interface GroupNotices {
  send(tx: Transaction, realm: Realm, notice: MembershipNotice): Promise<void>;
}
