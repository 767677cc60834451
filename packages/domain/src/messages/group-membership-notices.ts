import type { GroupNotices, MembershipNotice } from '../groups/group-notices.js';
import type { Clock } from '../kernel/clock.js';
import { type GroupId, isId, type UserId } from '../kernel/ids.js';
import { encodeJob, type Job, jobKind } from '../kernel/job.js';
import type { JobHandler, JobWork } from '../kernel/job-handler.js';
import { slicesOf } from '../kernel/slices.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import { silentMention } from '../markdown/syntax.js';
import type { Realm } from '../realms/realm.js';
import { SystemMessages } from './system-messages.js';

/** So many are sent in one unit: others would have to wait for longer ones. */
export const NOTICES_AT_A_TIME = 100;

interface NoticePayload {
  readonly op: 'add' | 'remove';
  readonly byId: UserId;
  readonly groupId: GroupId;
  readonly userIds: readonly UserId[];
}

export const MEMBERSHIP_NOTICE_JOB = jobKind<NoticePayload>({
  name: 'messages.group_membership_notice',
  readPayload: (stored) => {
    const { op, byId, groupId, userIds } = stored as Partial<NoticePayload>;
    if ((op !== 'add' && op !== 'remove') || ![byId, groupId, ...(userIds ?? [null])].every(isId)) {
      throw new Error('It says nothing of a group');
    }
    return { op, byId: byId!, groupId: groupId!, userIds: userIds! };
  },
  concurrency: 1,
});

/**
 * A direct message to each, by the notification bot (users §12.4): in the unit that changes the group, or, where they are many,
 * in units of their own that follow it.
 */
export class GroupMembershipNotices implements GroupNotices {
  static readonly inject = [SystemMessages, 'clock'] as const;
  constructor(
    private readonly systemMessages: SystemMessages,
    private readonly clock: Clock,
  ) {}

  async send(tx: Transaction, realm: Realm, notice: MembershipNotice): Promise<void> {
    const { op, by, group, people } = notice;
    if (people.length <= NOTICES_AT_A_TIME) return this.sendNow(tx, realm, notice);
    const dueAt = this.clock.now();
    for (const some of slicesOf(people, NOTICES_AT_A_TIME)) {
      const payload = { op, byId: by.id, groupId: group.id, userIds: some.map(({ id }) => id) };
      await tx.jobs.schedule(encodeJob(MEMBERSHIP_NOTICE_JOB, { realmId: realm.id, dueAt, payload }));
    }
  }

  async sendNow(tx: Transaction, realm: Realm, { op, actor, by, group, people }: MembershipNotice): Promise<void> {
    const done = op === 'add' ? 'added you to' : 'removed you from';
    const content = `${silentMention(by)} ${done} the group @_*${group.name}*.`;
    // A group may be called anything, such as what links to a channel.
    await this.systemMessages.sendDirectToAll(tx, realm, people, content, { actor });
  }
}

/** Sends those of a large change, so many at a time. */
export class SendGroupMembershipNotices implements JobHandler<NoticePayload> {
  static readonly inject = [GroupMembershipNotices] as const;

  readonly kind = MEMBERSHIP_NOTICE_JOB;

  constructor(private readonly notices: GroupMembershipNotices) {}

  async prepare({ realmId, payload: { op, byId, groupId, userIds } }: Job<NoticePayload>): Promise<JobWork> {
    return async (tx) => {
      const realm = await tx.realms.get(realmId);
      const group = await tx.groups.find(realmId, groupId);
      const by = await tx.users.find(realmId, byId);
      // Nobody is notified once the organization, the group or the acting user is gone.
      if (realm.isDeactivated || !group || !by?.isActive) return;
      const people = (await tx.users.list(realmId, userIds)).filter(({ isActive }) => isActive);
      const actor = await tx.actors.get({ realmId, userId: byId });
      await this.notices.sendNow(tx, realm, { op, actor, by, group, people });
    };
  }
}
