import {
  ChangeGroupMembers,
  CreateGroup,
  DeactivateGroup,
  IsGroupMember,
  ListGroupMembers,
  ListGroups,
  ListSubgroups,
  PromoteFullMembers,
  UpdateGroup,
} from '@parley/domain/groups';
import { GroupMembershipNotices, SystemMessages } from '@parley/domain/messages';
import { ContainerModule } from 'inversify';
import { provide } from '../provide.js';
import { TOKENS } from '../tokens.js';

const { unitOfWork, clock } = TOKENS;

export const groupsModule = new ContainerModule(({ bind }) => {
  provide(bind, PromoteFullMembers, unitOfWork, clock);
  provide(bind, ListGroups, unitOfWork);
  provide(bind, CreateGroup, unitOfWork, clock);
  provide(bind, UpdateGroup, unitOfWork);
  provide(bind, DeactivateGroup, unitOfWork);
  provide(bind, ListGroupMembers, unitOfWork);
  provide(bind, IsGroupMember, unitOfWork);
  provide(bind, ListSubgroups, unitOfWork);
  provide(bind, GroupMembershipNotices, SystemMessages);
  provide(bind, ChangeGroupMembers, unitOfWork, GroupMembershipNotices);
});
