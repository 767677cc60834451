import {
  ChangeGroupMembers,
  CreateGroup,
  DeactivateGroup,
  IsGroupMember,
  ListGroupMembers,
  ListGroups,
  ListSubgroups,
  PromoteFullMembers,
  RemoveUnusedGroups,
  UpdateGroup,
} from '@parley/domain/groups';
import { GroupMembershipNotices, SendGroupMembershipNotices, SystemMessages } from '@parley/domain/messages';
import { ContainerModule } from 'inversify';
import { provide, provideAs, provideFrom } from '../provide.js';
import { LISTS, PARTS, TOKENS } from '../tokens.js';
import { periodic, RecurringWorker } from '../workers/recurring-worker.js';

const { unitOfWork, clock } = TOKENS;

const HOUR_MS = 3_600_000;

export const groupsModule = new ContainerModule(({ bind }) => {
  provide(bind, PromoteFullMembers, unitOfWork, clock);
  provide(bind, RemoveUnusedGroups, unitOfWork);
  provideFrom(
    bind,
    LISTS.worker,
    (unused, timers, report) =>
      new RecurringWorker(
        periodic('removing groups that nothing refers to', HOUR_MS, async () => void (await unused.execute())),
        timers,
        report,
      ),
    RemoveUnusedGroups,
    PARTS.timers,
    PARTS.report,
  );
  provide(bind, ListGroups, unitOfWork);
  provide(bind, CreateGroup, unitOfWork, clock);
  provide(bind, UpdateGroup, unitOfWork);
  provide(bind, DeactivateGroup, unitOfWork);
  provide(bind, ListGroupMembers, unitOfWork);
  provide(bind, IsGroupMember, unitOfWork);
  provide(bind, ListSubgroups, unitOfWork);
  provide(bind, GroupMembershipNotices, SystemMessages, clock);
  provide(bind, SendGroupMembershipNotices, GroupMembershipNotices);
  provideAs(bind, LISTS.jobHandler, SendGroupMembershipNotices);
  provide(bind, ChangeGroupMembers, unitOfWork, GroupMembershipNotices);
});
